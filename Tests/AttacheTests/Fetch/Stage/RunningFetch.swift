@testable import Attache

/// How a fetch ended.
struct Fetched: Sendable {
  var result: Result<StoredFile, FetchFailure>
  var record: MediaRecord

  /// The failure, or nil.
  var reason: Reason? {
    if case .failure(let failure) = result { failure.reason } else { nil }
  }

  /// The stored file, or nil if the fetch failed.
  var file: StoredFile? {
    try? result.get()
  }
}

/// A started fetch. It fails at its deadline, and releases its file immediately.
struct RunningFetch: Sendable {
  let ticket: FetchTicket
  private let stream: AsyncStream<Fetched>
  private let continuation: AsyncStream<Fetched>.Continuation

  init(_ url: String, with fetcher: MediaFetcher, store: AttachmentStore, clock: MonotonicClock, budget: Duration) {
    let (stream, continuation) = AsyncStream<Fetched>.makeStream()
    let deadline = MonotonicInstant.now.advanced(by: budget)
    let ticket = fetcher.fetch(url, deadline: deadline) { result, record in
      if case .success(let file) = result { store.unpin(file) }
      continuation.yield(Fetched(result: result, record: record))
      continuation.finish()
    }
    _ = clock.schedule(at: deadline) {
      ticket.cancel()
      continuation.yield(Fetched(result: .failure(FetchFailure(reason: .deadline)), record: ticket.record))
      continuation.finish()
    }
    (self.ticket, self.stream, self.continuation) = (ticket, stream, continuation)
  }

  /// How the fetch ended; a cancelled fetch ends as cancelled.
  var end: Fetched {
    get async {
      for await fetched in stream { return fetched }
      return Fetched(result: .failure(FetchFailure(reason: .cancelled)), record: ticket.record)
    }
  }

  func cancel() {
    ticket.cancel()
    continuation.finish()
  }
}
