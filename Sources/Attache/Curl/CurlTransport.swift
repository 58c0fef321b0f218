internal import CCurl

/// libcurl as the transport: its multi handle, and easy handles that serve again.
final class CurlTransport: Transport {
  /// Handles kept for the next exchange.
  private static let idleTransfers = 64

  /// Multi handles of all engines, among which the origins are spread: libcurl 7.88.1 walks through
  /// all connections of one whenever a transfer ends (`curl_multi_remove_handle`), which cost 40
  /// µs beside 4,000 stalled ones.
  private static let multiCount = 16
  /// Connections that a multi handle keeps for reuse when no transfer uses them, where descriptors
  /// allow it.
  private static let idleConnections = 64

  private let gate: AddressGate
  private let roots: CurlRoots?
  private let multis: [CurlMulti]
  /// What is kept open; outlives every connection.
  private let connections = CurlConnections()
  private var idle: [CurlTransfer] = []

  /// - Parameters:
  ///   - gate: asked about the address of every socket.
  ///   - roots: whom connections trust; nil leaves that to libcurl.
  ///   - transfersPerOrigin: at a time, whose connections are all kept.
  ///   - engines: how many share the limit on open files.
  /// - Throws: ``CurlError`` when libcurl cannot be set up, or refuses an option.
  init(loop: EventLoop, gate: AddressGate, roots: CurlRoots?, transfersPerOrigin: Int, engines: Int) throws(CurlError) {
    self.gate = gate
    self.roots = roots
    let count = max(4, Self.multiCount / engines)
    let idle = max(
      1, min(max(Self.idleConnections, transfersPerOrigin), ConnectionBudget.current(engines: engines).idleConnections / count))
    multis = try (0..<count).map { (_) throws(CurlError) in try CurlMulti(loop: loop, idleConnections: idle) }
    self.idle = [try CurlTransfer(connections: connections, gate: gate, roots: roots)]
  }

  func begin(_ request: TransferRequest, for owner: any TransferOwner) throws(TransportError) -> any Transfer {
    do {
      let transfer = try idle.popLast() ?? CurlTransfer(connections: connections, gate: gate, roots: roots)
      try transfer.prepare(request, on: multi(for: request), for: owner)
      try transfer.begin()
      return transfer
    } catch {
      throw TransportError("\(error)")
    }
  }

  /// The same for all requests over the same connections.
  private func multi(for request: TransferRequest) -> CurlMulti {
    let place = request.proxy.map { "\($0.host):\($0.port)" } ?? request.url.origin
    return multis[Int(UInt(bitPattern: place.hashValue) % UInt(multis.count))]
  }

  func deliverEnds() {
    for multi in multis { multi.deliverEnds(deliver) }
  }

  private func deliver(_ transfer: CurlTransfer, _ code: CURLcode) {
    if transfer.metSurplus, beginAgain(transfer) { return }
    let (owner, end) = transfer.conclude(code)
    // Before its owner is told, who may begin another exchange at once.
    if transfer.isReusable, idle.count < Self.idleTransfers { idle.append(transfer) }
    owner?.transferEnded(end)
  }

  /// Begins an exchange again that has not asked anything yet; a new connection holds nothing, so
  /// that once is enough.
  private func beginAgain(_ transfer: CurlTransfer) -> Bool {
    do {
      try transfer.startOver()
      try transfer.begin()
      return true
    } catch {
      return false
    }
  }

  func shutdown() {
    for multi in multis { multi.shutdown() }
  }
}
