internal import Dispatch
internal import Glibc

/// Signals as events; their usual effect is off from here on.
struct Signals {
  private let events: AsyncStream<CInt>
  private let sources: [any DispatchSourceSignal]

  init(_ numbers: [CInt]) {
    let (events, continuation) = AsyncStream.makeStream(of: CInt.self)
    self.events = events
    sources = numbers.map { number in
      _ = signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number)
      source.setEventHandler { continuation.yield(number) }
      source.activate()
      return source
    }
  }

  /// Comes back when the first of them has come.
  func first() async {
    for await _ in events { return }
  }
}
