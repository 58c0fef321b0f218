internal import Attache

/// A transport that plays a scenario's origins instead of libcurl, without sockets. Time passes
/// only as the scripts say.
///
/// It follows libcurl's rules with the engine's settings: connections are reused, one connection
/// carries all HTTP/2 streams, and a request whose reused connection is dead is repeated on a new
/// one.
final class ScriptedTransport: Transport {
  let loop: EventLoop
  let network: ScriptedNetwork
  /// Idle connections that can be reused, by origin; the latest is last.
  private var idle: [String: [ScriptedConnection]] = [:]
  private var shared: [String: ScriptedConnection] = [:]
  private var running: [ObjectIdentifier: ScriptedTransfer] = [:]
  private var begun = 0
  private var ends: [(owner: any TransferOwner, end: TransferEnd)] = []

  init(loop: EventLoop, network: ScriptedNetwork) {
    self.loop = loop
    self.network = network
  }

  func begin(_ request: TransferRequest, for owner: any TransferOwner) -> any Transfer {
    begun += 1
    let transfer = ScriptedTransfer(request, number: begun, for: owner, transport: self)
    running[ObjectIdentifier(transfer)] = transfer
    transfer.begin()
    return transfer
  }

  func deliverEnds() {
    let batch = ends
    ends.removeAll()
    for (owner, end) in batch { owner.transferEnded(end) }
  }

  func shutdown() {
    let all = running.values
    running.removeAll()
    ends.removeAll()
    for transfer in all { transfer.cancel() }
    idle.removeAll()
    shared.removeAll()
  }

  // MARK: What transfers ask for

  /// Returns an existing connection for another request.
  func takeConnection(to origin: String) -> ScriptedConnection? {
    shared[origin] ?? idle[origin]?.popLast()
  }

  /// Makes a new connection available to other requests while its first request runs.
  func share(_ connection: ScriptedConnection, to origin: String) {
    shared[origin] = connection
  }

  /// Keeps a connection for the next request.
  func keep(_ connection: ScriptedConnection, to origin: String) {
    idle[origin, default: []].append(connection)
  }

  /// Removes a shared connection and returns its transfers.
  func drop(_ connection: ScriptedConnection, to origin: String) -> [ScriptedTransfer] {
    if shared[origin] === connection { shared[origin] = nil }
    return running.values.filter { $0.connection === connection }.sorted { $0.number < $1.number }
  }

  /// Queues the end of a transfer. The owner is called at the end of the turn.
  func end(_ transfer: ScriptedTransfer, _ end: TransferEnd, to owner: (any TransferOwner)?) {
    guard running.removeValue(forKey: ObjectIdentifier(transfer)) != nil, let owner else { return }
    ends.append((owner, end))
  }

  func forget(_ transfer: ScriptedTransfer) {
    running[ObjectIdentifier(transfer)] = nil
  }
}

/// A connection to a scenario's origin.
final class ScriptedConnection {
  let place: ScriptedNetwork.Origin
  /// The connection's number at its origin, from 1.
  let number: Int
  let isHTTP2: Bool

  init(place: ScriptedNetwork.Origin, number: Int, isHTTP2: Bool) {
    self.place = place
    self.number = number
    self.isHTTP2 = isHTTP2
  }
}
