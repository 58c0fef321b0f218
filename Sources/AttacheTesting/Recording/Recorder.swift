package import Attache
internal import Synchronization

/// Watches what origins and name servers do in a run, and keeps it.
package final class Recorder: Sendable {
  private struct State {
    var exchanges: [RecordedExchange] = []
    var names: [String: [NameScript.Turn]] = [:]
  }

  private let state = Mutex(State())
  private let keepsMedia: Bool

  /// - Parameter keepsMedia: whether bodies are kept whole; else only what tells their type.
  package init(keepsMedia: Bool) {
    self.keepsMedia = keepsMedia
  }

  package var exchanges: [RecordedExchange] { state.withLock { $0.exchanges } }
  package var names: [String: [NameScript.Turn]] { state.withLock { $0.names } }

  /// The same network, watched.
  package func watching(_ network: FetchNetwork) -> FetchNetwork {
    FetchNetwork(machine: network.machine) { [self] loop throws(StartError) in
      RecordingTransport(try network.transport(loop), recorder: self, machine: network.machine)
    } resolver: { [self] loop throws(StartError) in
      RecordingResolver(try network.resolver(loop), recorder: self, machine: network.machine)
    }
  }

  /// Bytes kept of a body, at most.
  var keptBytes: Int { keepsMedia ? .max : 0 }

  func begin(_ exchange: RecordedExchange) -> Int {
    state.withLock { state in
      state.exchanges.append(exchange)
      return state.exchanges.count - 1
    }
  }

  func change(_ index: Int, _ change: (inout RecordedExchange) -> Void) {
    state.withLock { change(&$0.exchanges[index]) }
  }

  func note(_ turn: NameScript.Turn, of name: String) {
    state.withLock { $0.names[name, default: []].append(turn) }
  }
}
