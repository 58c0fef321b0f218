package import Attache
internal import Synchronization

/// Records what origins and name servers do in a run.
package final class Recorder: Sendable {
  private struct State {
    var exchanges: [RecordedExchange] = []
    var names: [String: [NameScript.Turn]] = [:]
  }

  private let state = Mutex(State())
  private let keepsMedia: Bool

  /// - Parameter keepsMedia: whether whole bodies are kept; otherwise only those that may be too
  ///   small for a stand-in.
  package init(keepsMedia: Bool) {
    self.keepsMedia = keepsMedia
  }

  package var exchanges: [RecordedExchange] { state.withLock { $0.exchanges } }
  package var names: [String: [NameScript.Turn]] { state.withLock { $0.names } }

  /// Returns the same network with recording.
  package func watching(_ network: FetchNetwork) -> FetchNetwork {
    FetchNetwork(machine: network.machine) { [self] loop throws(StartError) in
      RecordingTransport(try network.transport(loop), recorder: self, machine: network.machine)
    } resolver: { [self] loop throws(StartError) in
      RecordingResolver(try network.resolver(loop), recorder: self, machine: network.machine)
    }
  }

  /// The maximum number of bytes to keep of a body. A body may be too small for a stand-in.
  var keptBytes: Int { keepsMedia ? .max : StandIn.longestBeginning }

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
