internal import Synchronization

/// The ``ConversionBacklog`` of a run. May be used from any thread.
final class ConversionLoad: Sendable {
  private let backlog: Mutex<ConversionBacklog>

  init(converters: Int) {
    backlog = Mutex(ConversionBacklog(converters: converters))
  }

  /// Records that a payload begins.
  func begin(_ payload: UInt64) {
    backlog.withLock { $0.begin(payload) }
  }

  /// Records the expected time of a payload's conversion; a negative one when it has ended.
  func note(_ time: Duration, of payload: UInt64) {
    backlog.withLock { $0.note(time, of: payload) }
  }

  /// Records that a payload is decided.
  func end(_ payload: UInt64) {
    backlog.withLock { $0.end(payload) }
  }

  /// Returns the number of payloads that may be undecided at the same time, if each has this time.
  func places(within deadline: Duration) -> Int {
    backlog.withLock { $0.places(within: deadline) }
  }
}
