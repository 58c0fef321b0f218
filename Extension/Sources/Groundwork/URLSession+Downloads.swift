import Foundation
import FoundationNetworking
import OriginalFoundation

// Apple deletes the file of a download when the completion handler returns
// (https://developer.apple.com/documentation/foundation/urlsession/downloadtask(with:completionhandler:)).
// Foundation for Linux leaves it, and leaves an empty file after a failure.

extension URLSession {
  /// Creates a task that downloads to a temporary file, which is deleted when `completionHandler`
  /// returns.
  public func downloadTask(
    with request: URLRequest, completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionDownloadTask {
    let watch = ResourceTimeout(configuration.timeoutIntervalForResource)
    let task = originalDownloadTask(self, request) { file, response, error in
      watch.end()
      completionHandler(error == nil ? file : nil, response, watch.replacing(error))
      if let file { try? FileManager.default.removeItem(at: file) }
    }
    watch.begin(task)
    return task
  }

  /// Creates a task that downloads to a temporary file, which is deleted when `completionHandler`
  /// returns.
  public func downloadTask(
    with url: URL, completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionDownloadTask {
    downloadTask(with: URLRequest(url: url), completionHandler: completionHandler)
  }
}

/// Cancels a task when its session's `timeoutIntervalForResource` is over, which Foundation for
/// Linux ignores.
private final class ResourceTimeout: @unchecked Sendable {
  private let seconds: TimeInterval
  private let lock = NSLock()
  private var timer: (any DispatchSourceTimer)?
  private var isOver = false

  init(_ seconds: TimeInterval) {
    self.seconds = seconds
  }

  func begin(_ task: URLSessionTask) {
    // Apple's default is seven days. A notification's budget is 30 seconds.
    guard seconds < 3_600, seconds > 0 else { return }
    let timer = DispatchSource.makeTimerSource(queue: .global())
    timer.schedule(deadline: .now() + seconds)
    timer.setEventHandler { [weak self, weak task] in
      self?.lock.withLock { self?.isOver = true }
      task?.cancel()
    }
    lock.withLock { self.timer = timer }
    timer.resume()
  }

  func end() {
    lock.withLock {
      timer?.cancel()
      timer = nil
    }
  }

  func replacing(_ error: (any Error)?) -> (any Error)? {
    lock.withLock { isOver } && error != nil ? URLError(.timedOut) : error
  }
}
