internal import Attache
internal import Synchronization

/// A scenario's network without real sockets: origins at virtual ports of 127.0.0.1, and the
/// requests that reached them.
package final class ScriptedNetwork: Sendable {
  /// An origin with its name in the scenario.
  struct Origin: Sendable {
    var name: String
    var script: OriginScript
  }

  private struct State {
    var origins: [Int: Origin] = [:]
    var connections: [String: Int] = [:]
    var turns: [String: Int] = [:]
  }

  /// The first of the ports; none of them is ever opened.
  private static let firstPort = 20_001
  private static let home = IPAddress.v4(0x7F00_0001)

  /// The address of each origin.
  package let addresses: [String: Placeholders.Address]
  private let ledger: StageLedger
  private let state = Mutex(State())

  /// - Parameter ledger: receives all events.
  init(_ origins: [String: OriginScript], ledger: StageLedger) {
    self.ledger = ledger
    let names = origins.keys.sorted()
    addresses = Dictionary(
      uniqueKeysWithValues: names.enumerated().map { index, name in
        (name, Placeholders.Address(scheme: origins[name]?.tls == nil ? "http" : "https", port: Self.firstPort + index))
      })
    serve(origins)
  }

  /// Registers the origins. Their placeholders must be filled in.
  func serve(_ origins: [String: OriginScript]) {
    state.withLock { state in
      for (name, script) in origins {
        if let port = addresses[name]?.port { state.origins[port] = Origin(name: name, script: script) }
      }
    }
  }

  /// The number of connections that all origins accepted.
  package var connections: Int {
    state.withLock { $0.connections.values.reduce(0, +) }
  }

  // MARK: What a transport asks

  /// Returns the origin that listens at a port of one of the addresses.
  ///
  /// - Throws: the result of connecting where no origin listens.
  func place(at addresses: [IPAddress], port: UInt16) throws(ConnectionFailure) -> Origin {
    guard addresses.contains(Self.home) else { throw addresses.allSatisfy(\.isLoopback) ? .refused : .unreachable }
    guard let place = state.withLock({ $0.origins[Int(port)] }) else { throw .refused }
    return place
  }

  enum ConnectionFailure: Error {
    case refused, unreachable
  }

  /// Accepts a connection.
  ///
  /// - Returns: its number at its origin, from 1.
  func accept(at place: Origin) -> Int {
    let number = state.withLock { state in
      state.connections[place.name, default: 0] += 1
      return state.connections[place.name, default: 1]
    }
    note(.connection(number), at: place)
    return number
  }

  /// Accepts a request.
  ///
  /// - Returns: the script of the response.
  func take(_ request: RecordedRequest, at place: Origin) -> ResponseScript {
    note(.request(request), at: place)
    let path = place.script.path(of: request.target)
    let turn = state.withLock { state in
      state.turns["\(place.name) \(path)", default: 0] += 1
      return state.turns["\(place.name) \(path)", default: 1]
    }
    return ResponseScript(place.script.steps(for: path, turn: turn), to: request)
  }

  func note(_ event: OriginEvent, at place: Origin) {
    ledger.note(event, at: place.name, place.script)
  }
}
