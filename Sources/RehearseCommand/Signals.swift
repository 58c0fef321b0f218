internal import AttacheArguments
internal import Dispatch
internal import Glibc

/// The signals that ask a command to stop (``StopSignals``), as events. Their usual effect is
/// disabled until the first one arrives.
struct Signals {
  private let events: AsyncStream<CInt>
  private let numbers: [CInt]
  private let sources: [any DispatchSourceSignal]

  /// Receives the signals that are not ignored when the process starts.
  init() {
    let numbers = StopSignals.all.filter { !StopSignals.isIgnored($0) }
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

  /// Waits for the first signal and returns its number; nil when the task is cancelled. A second
  /// signal ends the process, like any other.
  @discardableResult
  func first() async -> CInt? {
    for await number in events {
      for number in numbers { _ = signal(number, SIG_DFL) }
      return number
    }
    return nil
  }
}
