internal import Synchronization

/// The ``ConversionBacklog`` of a run. May be used from any thread.
final class ConversionLoad: Sendable {
  private let backlog: Mutex<ConversionBacklog>
  /// Called when ``places(within:)`` may have risen although no payload was decided.
  private let placesRose = Mutex<(@Sendable () -> Void)?>(nil)

  init(converters: Int) {
    backlog = Mutex(ConversionBacklog(converters: converters))
  }

  /// Records that a payload begins.
  func begin(_ payload: UInt64) {
    backlog.withLock { $0.begin(payload) }
  }

  /// Records that a payload needs a conversion.
  func note(_ turn: Duration, of payload: UInt64) {
    backlog.withLock { $0.note(turn, of: payload) }
  }

  /// Records the load of a fetcher's converters.
  func note(load: Duration, of fetcher: Int) {
    guard backlog.withLock({ $0.note(load: load, of: fetcher) }) else { return }
    placesRose.withLock(\.self)?()
  }

  /// How long a picture that comes now is expected to wait at most until its conversion begins.
  var wait: Duration { backlog.withLock(\.wait) }

  /// Sets the function to call when ``places(within:)`` may have risen although no payload was decided.
  func whenPlacesRise(_ action: @escaping @Sendable () -> Void) {
    placesRose.withLock { $0 = action }
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
