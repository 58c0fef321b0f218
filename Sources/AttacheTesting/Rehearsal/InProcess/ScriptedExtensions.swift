internal import Attache
internal import Synchronization

/// Service extensions that behave as a scenario says, for one run.
final class ScriptedExtensions: Sendable {
  /// How late an answer that is late comes.
  private static let lateness = Duration.milliseconds(1)

  private struct State {
    var blocked: [any WakeSignal] = []
    var isOver = false
  }

  private let kind: ScriptedExtensionKind
  private let machine: any Machine
  private let state = Mutex(State())

  /// - Parameter machine: what the extensions' threads wait on.
  init(_ kind: ScriptedExtensionKind, machine: any Machine) {
    self.kind = kind
    self.machine = machine
  }

  /// Makes the one that serves a request.
  ///
  /// - Parameter media: makes attache's own.
  func make(media: () -> MediaExtension) -> any ServiceExtension {
    kind == .media ? media() : ScriptedExtension(kind, stage: self)
  }

  /// Lets all threads go that wait, now and from now on; called when the run is over.
  func release() {
    let blocked = state.withLock { state in
      state.isOver = true
      defer { state.blocked = [] }
      return state.blocked
    }
    for wakeSignal in blocked { wakeSignal.ring() }
  }

  /// Blocks the calling thread until the run is over.
  fileprivate func block() {
    wait(until: nil)
  }

  /// Blocks the calling thread until a deadline is past.
  fileprivate func block(beyond deadline: MonotonicInstant) {
    wait(until: deadline.advanced(by: Self.lateness))
  }

  private func wait(until instant: MonotonicInstant?) {
    guard let wakeSignal = try? machine.makeWakeSignal() else { return }
    let isOver = state.withLock { state in
      if !state.isOver { state.blocked.append(wakeSignal) }
      return state.isOver
    }
    guard !isOver else { return }
    // A wait may end early: only the time, or the end of the run, ends this one.
    while !state.withLock({ $0.isOver }), instant.map({ machine.now < $0 }) ?? true { wakeSignal.wait(until: instant) }
  }
}

/// A service extension that misbehaves.
private final class ScriptedExtension: ServiceExtension {
  /// What it throws.
  private struct Mishap: Error {}

  private let kind: ScriptedExtensionKind
  private let stage: ScriptedExtensions

  init(_ kind: ScriptedExtensionKind, stage: ScriptedExtensions) {
    self.kind = kind
    self.stage = stage
  }

  func didReceive(_ request: NotificationRequest, answer: ExtensionReply) throws {
    switch kind {
    case .media, .silent: break
    case .blocks: stage.block()
    case .throws: throw Mishap()
    case .emptiesAlert: answer.offer(.content(NotificationContent()))
    case .late:
      stage.block(beyond: request.deadline)
      answer.offer(.content(request.content))
    case .twice:
      answer.offer(.original(nil))
      answer.offer(.content(NotificationContent()))
    }
  }

  func timeWillExpire() {
    if kind == .blocks { stage.block() }
  }

  func cancel() {
    if kind == .blocks { stage.block() }
  }
}
