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
    BackgroundSessions.shared.refuseHandler(of: self)
    let watch = ResourceTimeout(configuration.timeoutIntervalForResource)
    let task = originalDownloadTask(self, request) { file, response, error in
      watch.end()
      let file = file ?? request.url.flatMap { error == nil ? DataURL.file($0) : nil }
      completionHandler(error == nil ? file : nil, response, TransferFailure.refining(watch.replacing(error)))
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

/// The content of a URL of the scheme `data` (RFC 2397), of which Foundation for Linux makes no file.
enum DataURL {
  /// Writes the content to a temporary file.
  ///
  /// - Returns: the file; nil for another URL.
  static func file(_ url: URL) -> URL? {
    guard url.scheme?.lowercased() == "data" else { return nil }
    let parts = url.absoluteString.split(separator: ",", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let text = String(parts[1]).removingPercentEncoding else { return nil }
    guard let content = parts[0].lowercased().hasSuffix(";base64") ? Data(base64Encoded: text) : Data(text.utf8) else { return nil }
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("CFNetworkDownload_\(UUID().uuidString).tmp")
    return (try? content.write(to: file)).map { file }
  }
}

/// Cancels a task when its session's `timeoutIntervalForResource` is over, which Foundation for
/// Linux ignores.
final class ResourceTimeout: @unchecked Sendable {
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
