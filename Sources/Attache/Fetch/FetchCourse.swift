internal import Synchronization

/// How far a fetch is, for everybody who waits for it: noted on the loop, read from any thread.
final class FetchCourse: Sendable {
  private let state = Mutex(MediaRecord(url: ""))

  /// Notes a change.
  func note(_ change: (inout MediaRecord) -> Void) {
    state.withLock { change(&$0) }
  }

  /// Takes over what the fetch is, apart from who asked for it.
  func report(to record: inout MediaRecord) {
    let course = state.withLock { $0 }
    record.status = course.status
    record.bytes = course.bytes
    record.type = course.type
    record.attempts = course.attempts
    record.timing = course.timing
  }
}
