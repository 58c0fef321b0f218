internal import Attache
internal import Synchronization

/// Kills a whole command once, when its kill point is reached.
final class CommandKill: Sendable {
  fileprivate struct State {
    var group: StartedProcess?
    var isDone = false
    var counts = Counts()
  }

  /// The number of steps so far, by kind.
  struct Counts: Sendable, Hashable {
    var requests = 0
    var pieces = 0
    var lines = 0
  }

  enum Step: Sendable {
    case started(StartedProcess)
    case fed
    case request
    case sent
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
      let comes = state.note(step, point)
      guard comes, !state.isDone, let group = state.group else { return }
      state.isDone = true
      group.send(9)
    }
  }
}

extension CommandKill.State {
  /// Records a step and returns whether it reaches the point. Steps of another kind never do.
  fileprivate mutating func note(_ step: CommandKill.Step, _ point: CommandKillPoint) -> Bool {
    switch step {
    case .started(let group):
      self.group = group
      return point == .start
    case .fed:
      return point == .fed
    case .request:
      counts.requests += 1
      return point == .request(counts.requests)
    case .sent:
      counts.pieces += 1
      return point == .sent(counts.pieces)
    case .line:
      counts.lines += 1
      return point == .line(counts.lines)
    case .time(let time):
      guard case .moment(let moment) = point else { return false }
      return time >= moment
    }
  }
}
