import Foundation
import FoundationNetworking

extension URLSession {
  /// The bytes of a body, as they arrive.
  public struct AsyncBytes: AsyncSequence, Sendable {
    public typealias Element = UInt8

    public let task: URLSessionDataTask
    fileprivate let chunks: AsyncThrowingStream<Data, any Error>

    public struct AsyncIterator: AsyncIteratorProtocol {
      fileprivate var chunks: AsyncThrowingStream<Data, any Error>.Iterator
      private var chunk = Data().makeIterator()

      fileprivate init(_ chunks: AsyncThrowingStream<Data, any Error>) {
        self.chunks = chunks.makeAsyncIterator()
      }

      public mutating func next() async throws -> UInt8? {
        while true {
          if let byte = chunk.next() { return byte }
          guard let next = try await chunks.next() else { return nil }
          chunk = next.makeIterator()
        }
      }
    }

    public func makeAsyncIterator() -> AsyncIterator {
      AsyncIterator(chunks)
    }
  }

  /// Returns the bytes of the body while they arrive, once the head of the response is there.
  public func bytes(for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil) async throws -> (AsyncBytes, URLResponse) {
    let (chunks, continuation) = AsyncThrowingStream<Data, any Error>.makeStream()
    let receiver = BodyReceiver(continuation)
    let session = URLSession(configuration: configuration, delegate: receiver, delegateQueue: nil)
    let task = session.dataTask(with: request)
    continuation.onTermination = { if case .cancelled = $0 { task.cancel() } }
    session.finishTasksAndInvalidate()
    let response = try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { head in
        receiver.begin(head)
        task.resume()
      }
    } onCancel: {
      task.cancel()
    }
    return (AsyncBytes(task: task, chunks: chunks), response)
  }

  /// Returns the bytes of the body while they arrive, once the head of the response is there.
  public func bytes(from url: URL, delegate: (any URLSessionTaskDelegate)? = nil) async throws -> (AsyncBytes, URLResponse) {
    try await bytes(for: URLRequest(url: url), delegate: delegate)
  }
}

/// Hands on the body of one task. All of its methods run on the session's queue, one at a time.
private final class BodyReceiver: NSObject, URLSessionDataDelegate, @unchecked Sendable {
  private let lock = NSLock()
  /// Who waits for the head of the response.
  private var head: CheckedContinuation<URLResponse, any Error>?
  /// What came before somebody waited: a task may be cancelled before it begins.
  private var early: Result<URLResponse, any Error>?
  private let body: AsyncThrowingStream<Data, any Error>.Continuation

  init(_ body: AsyncThrowingStream<Data, any Error>.Continuation) {
    self.body = body
  }

  /// Sets who waits for the head of the response.
  func begin(_ waiting: CheckedContinuation<URLResponse, any Error>) {
    let early = lock.withLock {
      if self.early == nil { head = waiting }
      return self.early
    }
    if let early { waiting.resume(with: early) }
  }

  private func take(_ result: Result<URLResponse, any Error>) {
    let waiting = lock.withLock {
      if early == nil { early = result }
      return head.take()
    }
    waiting?.resume(with: result)
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
  ) {
    take(.success(response))
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    body.yield(data)
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    let error = TransferFailure.refining(error)
    take(.failure(error ?? URLError(.badServerResponse)))
    body.finish(throwing: error)
  }
}

/// The lines of a sequence of bytes.
public struct AsyncLineSequence<Base: AsyncSequence>: AsyncSequence where Base.Element == UInt8 {
  public typealias Element = String

  fileprivate let base: Base

  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate var base: Base.AsyncIterator

    /// Returns the next line that is not empty, as Apple's sequence does.
    public mutating func next() async throws -> String? {
      var line = [UInt8]()
      while let byte = try await base.next() {
        if byte != UInt8(ascii: "\n") && byte != UInt8(ascii: "\r") {
          line.append(byte)
        } else if !line.isEmpty {
          break
        }
      }
      return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
    }
  }

  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(base: base.makeAsyncIterator())
  }
}

extension AsyncSequence where Element == UInt8 {
  public var lines: AsyncLineSequence<Self> { AsyncLineSequence(base: self) }
}
