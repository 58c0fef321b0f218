import Foundation
import FoundationNetworking
import OriginalFoundation

// Foundation's tasks with a completion handler: with the errors of Apple's Foundation, and its time-outs.
//
// Apple deletes the file of a download when the completion handler returns
// (https://developer.apple.com/documentation/foundation/urlsession/downloadtask(with:completionhandler:)).
// Foundation for Linux leaves it, and leaves an empty file after a failure.

extension URLSession {
  /// Creates a task that downloads to a temporary file, which is deleted when `completionHandler`
  /// returns.
  public func downloadTask(
    with request: URLRequest, completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionDownloadTask {
    watched(request) { finish in
      originalDownloadTask(self, request) { file, response, error in
        let file = file ?? request.url.flatMap { error == nil ? DataURL.file($0) : nil }
        completionHandler(error == nil ? file : nil, response, finish(error))
        if let file { try? FileManager.default.removeItem(at: file) }
      }
    }
  }

  /// Creates a task that downloads to a temporary file, which is deleted when `completionHandler`
  /// returns.
  public func downloadTask(
    with url: URL, completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionDownloadTask {
    downloadTask(with: URLRequest(url: url), completionHandler: completionHandler)
  }

  /// Creates a task that receives the whole body.
  public func dataTask(
    with request: URLRequest, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionDataTask {
    watched(request) { finish in originalDataTask(self, request) { completionHandler($0, $1, finish($2)) } }
  }

  /// Creates a task that receives the whole body.
  public func dataTask(
    with url: URL, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionDataTask {
    dataTask(with: URLRequest(url: url), completionHandler: completionHandler)
  }

  /// Creates a task that sends `bodyData` and receives the whole body of the answer.
  public func uploadTask(
    with request: URLRequest, from bodyData: Data?, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionUploadTask {
    watched(request) { finish in originalUploadTask(self, request, bodyData) { completionHandler($0, $1, finish($2)) } }
  }

  /// Creates a task, and watches its time.
  ///
  /// - Parameter make: creates the task. Its argument is called once at the end, and returns the error
  ///   that Apple's Foundation gives.
  private func watched<Made: URLSessionTask>(
    _ request: URLRequest, _ make: (_ finish: @escaping @Sendable ((any Error)?) -> (any Error)?) -> Made
  ) -> Made {
    BackgroundSessions.shared.refuseHandler(of: self)
    let watch = TaskWatch(request, configuration)
    let task = make { error in
      watch.end()
      return TransferFailure.refining(watch.timeOut(insteadOf: error))
    }
    watch.begin(task)
    return task
  }
}
