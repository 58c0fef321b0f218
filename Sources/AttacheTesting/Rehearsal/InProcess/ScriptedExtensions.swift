internal import Attache
internal import Synchronization

/// The service extensions for one run, which behave as the scenario says.
final class ScriptedExtensions: Sendable {
  /// The delay of a late answer after its deadline.
  private static let lateness = Duration.milliseconds(1)

  private struct State {
    var blocked: [any WakeSignal] = []
    var isOver = false
  }

  private let kind: ScriptedExtensionKind
  private let machine: any Machine
  private let state = Mutex(State())

  /// - Parameter machine: provides the wake signals on which the extensions' threads wait.
  init(_ kind: ScriptedExtensionKind, machine: any Machine) {
    self.kind = kind
    self.machine = machine
  }

  /// Creates the extension that serves a request.
  ///
  /// - Parameter media: creates attache's own extension.
  func make(media: () -> MediaExtension) -> any ServiceExtension {
    kind == .media ? media() : ScriptedExtension(kind, stage: self)
  }

  /// Releases all waiting threads, now and from now on. Call it when the run is over.
  func release() {
    let blocked = state.withLock { state in
      state.isOver = true
      defer { state.blocked = [] }
      return state.blocked
    }
    for wakeSignal in blocked { wakeSignal.ring() }
  }

  /// Blocks the calling thread until the run is over, or until a deadline has passed.
  fileprivate func block(beyond deadline: MonotonicInstant? = nil) {
    let instant = deadline?.advanced(by: Self.lateness)
    guard let wakeSignal = try? machine.makeWakeSignal() else { return }
    let isOver = state.withLock { state in
      if !state.isOver { state.blocked.append(wakeSignal) }
      return state.isOver
    }
    guard !isOver else { return }
    // A wait can end early, so the loop checks for the time or the end of the run.
    while !state.withLock({ $0.isOver }), instant.map({ machine.now < $0 }) ?? true { wakeSignal.wait(until: instant) }
  }
}

/// A service extension with a fault.
private final class ScriptedExtension: ServiceExtension {
  /// The error that it throws.
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
