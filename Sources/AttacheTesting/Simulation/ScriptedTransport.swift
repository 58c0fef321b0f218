internal import Attache

/// A transport that plays the origins of a scenario in the place of libcurl, without a socket: no
/// time passes but what the scripts say.
///
/// It goes by libcurl's rules as the engine sets them: connections serve again, one carries all
/// streams of HTTP/2, a request that finds its old connection dead is sent once more on a new one.
final class ScriptedTransport: Transport {
  let loop: EventLoop
  let network: ScriptedNetwork
  /// Connections that serve again, by origin; the latest last.
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

  /// A connection that is there already, for one more request.
  func takeConnection(to origin: String) -> ScriptedConnection? {
    shared[origin] ?? idle[origin]?.popLast()
  }

  /// Lets others use a new connection beside its first request.
  func share(_ connection: ScriptedConnection, to origin: String) {
    shared[origin] = connection
  }

  /// Keeps a connection for the next request.
  func keep(_ connection: ScriptedConnection, to origin: String) {
    idle[origin, default: []].append(connection)
  }

  /// Forgets a connection that carries many, and all that it carries.
  func drop(_ connection: ScriptedConnection, to origin: String) -> [ScriptedTransfer] {
    if shared[origin] === connection { shared[origin] = nil }
    return running.values.filter { $0.connection === connection }.sorted { $0.number < $1.number }
  }

  /// Has the end of a transfer told at the end of the turn.
  func end(_ transfer: ScriptedTransfer, _ end: TransferEnd, to owner: (any TransferOwner)?) {
    guard running.removeValue(forKey: ObjectIdentifier(transfer)) != nil, let owner else { return }
    ends.append((owner, end))
  }

  func forget(_ transfer: ScriptedTransfer) {
    running[ObjectIdentifier(transfer)] = nil
  }
}

/// A connection to an origin of a scenario.
final class ScriptedConnection {
  let place: ScriptedNetwork.Origin
  /// At its origin, from 1.
  let number: Int
  let isHTTP2: Bool

  init(place: ScriptedNetwork.Origin, number: Int, isHTTP2: Bool) {
    self.place = place
    self.number = number
    self.isHTTP2 = isHTTP2
  }
}
