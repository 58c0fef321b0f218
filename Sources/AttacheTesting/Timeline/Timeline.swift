package import Attache
internal import Synchronization

/// The events of a scenario's run, which any thread can record.
package final class Timeline: Sendable {
  /// The maximum number of events; further ones are only counted.
  private static let maximumEvents = 2000

  fileprivate struct Entry {
    var at: MonotonicInstant
    var actor: TimelineEvent.Actor
    var text: String
    /// The total of this event and the equal ones that follow it.
    var bytes: (count: Int, pieces: Int)?
  }

  private struct State {
    var start: MonotonicInstant
    var entries: [Entry] = []
    var left = 0
  }

  private let state: Mutex<State>
  private let clock: @Sendable () -> MonotonicInstant

  /// - Parameter clock: returns the time of an event that is recorded without one.
  package init(clock: @escaping @Sendable () -> MonotonicInstant = { .now }) {
    self.clock = clock
    state = Mutex(State(start: clock()))
  }

  /// The instant from which all event times are counted.
  package var start: MonotonicInstant {
    get { state.withLock { $0.start } }
    set { state.withLock { $0.start = newValue } }
  }

  package func note(_ actor: TimelineEvent.Actor, _ text: String, at instant: MonotonicInstant? = nil) {
    add(Entry(at: instant ?? clock(), actor: actor, text: text))
  }

  /// Records that bytes were sent. It is merged with the previous event if that is of the same
  /// kind.
  package func note(_ actor: TimelineEvent.Actor, sent count: Int, of text: String, at instant: MonotonicInstant? = nil) {
    let isNoted = state.withLock { state in
      guard let last = state.entries.last, last.actor == actor, last.text == text, let bytes = last.bytes else { return false }
      state.entries[state.entries.count - 1].bytes = (bytes.count + count, bytes.pieces + 1)
      return true
    }
    if !isNoted { add(Entry(at: instant ?? clock(), actor: actor, text: text, bytes: (count, 1))) }
  }

  /// All events so far, in order of time.
  package var events: [TimelineEvent] {
    state.withLock { state in
      var events = state.entries.map { TimelineEvent(at: state.start.duration(to: $0.at), $0.actor, $0.description) }
      events.sort { $0.at < $1.at }
      if state.left > 0, let last = events.last {
        events.append(TimelineEvent(at: last.at, .filter, "\(state.left) more events are not shown"))
      }
      return events
    }
  }

  private func add(_ entry: Entry) {
    state.withLock { state in
      if state.entries.count < Self.maximumEvents { state.entries.append(entry) } else { state.left += 1 }
    }
  }
}

extension Timeline.Entry {
  fileprivate var description: String {
    guard let bytes else { return text }
    let pieces = bytes.pieces > 1 ? " in \(bytes.pieces) pieces" : ""
    return "\(text): \(bytes.count) \(bytes.count == 1 ? "byte" : "bytes") sent\(pieces)"
  }
}
