import Foundation
import FoundationNetworking
import OriginalFoundation

// Without a delegate, these have the errors and the time-outs of the tasks with a completion handler.
// With a delegate, they have only the errors.

extension URLSession {
  /// Receives the whole body.
  public func data(for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil) async throws -> (Data, URLResponse) {
    guard let delegate else { return try await result { dataTask(with: request, completionHandler: $0) } }
    return try await TransferFailure.refining { try await originalData(self, request, delegate) }
  }

  /// Receives the whole body.
  public func data(from url: URL, delegate: (any URLSessionTaskDelegate)? = nil) async throws -> (Data, URLResponse) {
    try await data(for: URLRequest(url: url), delegate: delegate)
  }

  /// Downloads to a temporary file, which the caller removes.
  public func download(for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil) async throws -> (URL, URLResponse) {
    if let delegate { return try await TransferFailure.refining { try await originalDownload(self, request, delegate) } }
    return try await result { finish in
      downloadTask(with: request) { file, response, error in
        // The handler's file is deleted when the handler returns.
        let kept = file.flatMap { file in
          let new = TemporaryFile.new
          return (try? FileManager.default.moveItem(at: file, to: new)).map { new }
        }
        finish(kept, response, error)
      }
    }
  }

  /// Downloads to a temporary file, which the caller removes.
  public func download(from url: URL, delegate: (any URLSessionTaskDelegate)? = nil) async throws -> (URL, URLResponse) {
    try await download(for: URLRequest(url: url), delegate: delegate)
  }

  /// Sends `bodyData`, and receives the whole body of the answer.
  public func upload(
    for request: URLRequest, from bodyData: Data, delegate: (any URLSessionTaskDelegate)? = nil
  ) async throws -> (Data, URLResponse) {
    guard let delegate else { return try await result { uploadTask(with: request, from: bodyData, completionHandler: $0) } }
    return try await TransferFailure.refining { try await originalUpload(self, request, bodyData, delegate) }
  }

  private func result<Value: Sendable>(
    _ start: (@escaping @Sendable (Value?, URLResponse?, (any Error)?) -> Void) -> URLSessionTask
  ) async throws -> (Value, URLResponse) {
    let running = RunningTask()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let task = start { value, response, error in
          if error == nil, let value, let response {
            continuation.resume(returning: (value, response))
          } else {
            continuation.resume(throwing: error ?? URLError(.unknown))
          }
        }
        running.begin(task)
      }
    } onCancel: {
      running.cancel()
    }
  }
}

/// A task that is cancelled with the Swift task that waits for it.
private final class RunningTask: @unchecked Sendable {
  private let lock = NSLock()
  private var task: URLSessionTask?
  private var isCancelled = false

  func begin(_ task: URLSessionTask) {
    let isCancelled = lock.withLock {
      self.task = task
      return self.isCancelled
    }
    if isCancelled { task.cancel() }
    task.resume()
  }

  func cancel() {
    let task = lock.withLock {
      isCancelled = true
      return self.task
    }
    task?.cancel()
  }
}
