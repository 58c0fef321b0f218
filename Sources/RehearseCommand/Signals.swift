internal import Dispatch
internal import Glibc

/// Signals as events; their usual effect is off until the first has come.
struct Signals {
  /// The signals that ask a command to stop. SIGHUP is one of them unless it is ignored already, as `nohup` has it.
  static var stopping: Signals {
    var action = sigaction()
    unsafe sigaction(SIGHUP, nil, &action)
    // As bits: functions cannot be compared. SIG_IGN is 1 (signal.h).
    let isIgnored = unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
    return Signals([SIGTERM, SIGINT] + (isIgnored ? [] : [SIGHUP]))
  }

  private let events: AsyncStream<CInt>
  private let numbers: [CInt]
  private let sources: [any DispatchSourceSignal]

  private init(_ numbers: [CInt]) {
    let (events, continuation) = AsyncStream.makeStream(of: CInt.self)
    self.events = events
    self.numbers = numbers
    sources = numbers.map { number in
      _ = signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number)
      source.setEventHandler { continuation.yield(number) }
      source.activate()
      return source
    }
  }

  /// Comes back when the first of them has come, with its number; nil when the task is cancelled. A second one ends the process, as any other.
  @discardableResult
  func first() async -> CInt? {
    for await number in events {
      for number in numbers { _ = signal(number, SIG_DFL) }
      return number
    }
    return nil
  }
}
