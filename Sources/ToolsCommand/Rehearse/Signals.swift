internal import AttacheArguments
internal import Dispatch
internal import Glibc

/// The signals that ask a command to stop (``StopSignals``), as events. Their usual effect is
/// disabled until the first one arrives.
struct Signals {
  private let events: AsyncStream<CInt>
  private let numbers: [CInt]
  private let sources: [any DispatchSourceSignal]

  /// Receives the signals that are not ignored when the process starts. A signal before this returns
  /// ends the process.
  init() {
    let numbers = StopSignals.all.filter { !StopSignals.isIgnored($0) }
    let (events, continuation) = AsyncStream.makeStream(of: CInt.self)
    self.events = events
    self.numbers = numbers
    let registrations = DispatchGroup()
    sources = numbers.map { number in
      let source = DispatchSource.makeSignalSource(signal: number)
      source.setEventHandler { continuation.yield(number) }
      registrations.enter()
      source.setRegistrationHandler { registrations.leave() }
      source.activate()
      return source
    }
    registrations.wait()
  }

  /// Waits for the first signal and returns its number; nil when the task is cancelled. A second
  /// signal ends the process, like any other.
  @discardableResult
  func first() async -> CInt? {
    for await number in events {
      endProcessAtNext()
      return number
    }
    return nil
  }

  /// Calls the first action at the first signal, the second at the second, and so on. One more
  /// signal ends the process.
  func onEach(_ actions: (@Sendable () -> Void)...) async {
    var rest = actions[...]
    for await _ in events {
      rest.popFirst()?()
      if rest.isEmpty { return endProcessAtNext() }
    }
  }

  private func endProcessAtNext() {
    for number in numbers { _ = signal(number, SIG_DFL) }
  }
}
