internal import Attache
internal import Synchronization

/// Kills a whole command once, when its kill point is reached.
final class CommandKill: Sendable {
  private struct State {
    var group: StartedProcess?
    var isDone = false
    /// The number of steps so far of the kind that the point counts.
    var count = 0
  }

  enum Step: Sendable {
    case started(StartedProcess)
    case fed
    case stage(StageEvent)
    case line
    case time(Duration)
  }

  let point: CommandKillPoint
  private let state = Mutex(State())

  init(at point: CommandKillPoint) {
    self.point = point
  }

  /// Whether the kill point was reached.
  var isDone: Bool { state.withLock { $0.isDone } }

  /// Records a step and kills the command if the kill point is reached.
  func happened(_ step: Step) {
    state.withLock { state in
      if case .started(let group) = step { state.group = group }
      guard reaches(step, &state.count), !state.isDone, let group = state.group else { return }
      state.isDone = true
      group.send(9)
    }
  }

  /// Counts a step and returns whether it reaches the point. Steps of another kind never do.
  private func reaches(_ step: Step, _ count: inout Int) -> Bool {
    switch (step, point) {
    case (.started, .start), (.fed, .fed): return true
    case (.stage(.request), .request(let number)), (.stage(.sent), .sent(let number)), (.line, .line(let number)):
      count += 1
      return count == number
    case (.time(let time), .moment(let moment)): return time >= moment
    case (.started, _), (.fed, _), (.stage, _), (.line, _), (.time, _): return false
    }
  }
}
