@testable import Attache

/// How a fetch ended.
struct Fetched: Sendable {
  var result: Result<StoredFile, FetchFailure>
  var record: MediaRecord

  /// Why it failed; nil when it did not.
  var reason: Reason? {
    if case .failure(let failure) = result { failure.reason } else { nil }
  }

  /// What was stored; nil when it failed.
  var file: StoredFile? {
    try? result.get()
  }
}

/// A fetch that was begun. It fails at its deadline, and releases its file as soon as it has
/// it.
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

  /// How it ended; a fetch that was cancelled ends as such.
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
