internal import CFetcher

/// A request of a host to a fetcher process.
enum FetcherRequest: Equatable {
  /// Fetch a URL that has passed the host's gate.
  ///
  /// - Parameters:
  ///   - place: where the fetcher reports its progress.
  ///   - payload: the number of the payload that waits for it.
  ///   - isRefused: whether the circuit breaker refuses the request: only a fresh file of the cache
  ///     may be handed out.
  ///   - fields: the operator's header lines for the origin of the URL.
  case fetch(UInt64, place: UInt32, payload: UInt64, deadline: MonotonicInstant, isRefused: Bool, fields: [String], url: String)
  /// Extend the deadline: a payload with a later one has joined.
  case extend(UInt64, payload: UInt64, deadline: MonotonicInstant)
  /// Cancel the fetch: no waiter is left.
  case cancel(UInt64)
  /// Reply, which shows that the loop is running.
  case pulse(UInt64)
  /// Write the pending rows of the cache.
  case close
}

/// A reply of a fetcher process to its host.
enum FetcherReply: Equatable {
  /// The loop is running. The value contains the limits that could not be applied to the process.
  case ready(FetcherBounds.Missing)
  case fetched(FetcherResult)
  /// A cancelled fetch has ended.
  ///
  /// - Parameter health: what it has shown about the origin.
  case left(UInt64, OriginHealth)
  /// The reply to a pulse.
  case alive(UInt64)
  /// A fetch needs a conversion, which is expected to keep a converter busy for so many
  /// milliseconds.
  case converts(UInt64, milliseconds: UInt32)
  /// The converters are busy for so many milliseconds with what comes before a payload that begins now.
  case load(milliseconds: UInt32)
  /// The cache is closed.
  ///
  /// - Parameter warning: a warning for the user about the cache; empty for none.
  case closed(warning: String)
  /// The fetcher cannot start.
  case failed(String)
  /// A failure that the fetcher survives (``SurvivedFailures``).
  case survived(String)
}

/// The result of a fetch.
struct FetcherResult: Equatable {
  enum End: Equatable {
    /// - Parameter keptUntil: when the file stops being valid for the URL; nil when it must not be
    ///   reused.
    case stored(StoredFile, keptUntil: MonotonicInstant?)
    case failed(FetchFailure)
  }

  /// The number of the request.
  var fetch: UInt64
  var progress: FetchProgress
  /// What the fetch has shown about the origin.
  var health = OriginHealth()
  var end: End
  /// The number of bytes that the fetcher has added to the store since its last report.
  var added: Int64
}
