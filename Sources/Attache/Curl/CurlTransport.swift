internal import CCurl

/// The transport through libcurl: its multi handles, and easy handles that are reused.
final class CurlTransport: Transport {
  /// The maximum number of easy handles kept for the next exchange.
  private static let idleTransfers = 64

  /// The number of multi handles of all engines together. The origins are distributed among them,
  /// because libcurl 7.88.1 walks all connections of a multi handle whenever a transfer ends
  /// (`curl_multi_remove_handle`). That took 40 µs with 4,000 stalled connections. Each engine has
  /// at least 4.
  private static let multiCount = 16
  /// The number of connections that a multi handle keeps for reuse when no transfer uses them, if
  /// there are enough descriptors.
  private static let idleConnections = 64

  private let gate: AddressGate
  private let roots: CurlRoots?
  private let multis: [CurlMulti]
  /// Tracks the open connections. Outlives every connection.
  private let connections = CurlConnections()
  private var names: CurlNames
  private var idle: [CurlTransfer] = []

  /// - Parameters:
  ///   - gate: checks the address of every socket.
  ///   - roots: the root certificates that connections trust; nil leaves them to libcurl.
  ///   - transfersPerOrigin: the number of concurrent transfers per origin, whose connections are
  ///     all kept.
  ///   - engines: the number of engines that share the limit on open files.
  /// - Throws: ``CurlError`` when libcurl cannot be initialised, or refuses an option.
  init(loop: EventLoop, gate: AddressGate, roots: CurlRoots?, transfersPerOrigin: Int, engines: Int) throws(CurlError) {
    self.gate = gate
    self.roots = roots
    let count = max(4, Self.multiCount / engines)
    let idle = max(
      1, min(max(Self.idleConnections, transfersPerOrigin), ConnectionBudget.current(engines: engines).idleConnections / count))
    multis = try (0..<count).map { (_) throws(CurlError) in try CurlMulti(loop: loop, idleConnections: idle) }
    names = try CurlNames()
    self.idle = [try CurlTransfer(connections: connections, gate: gate, roots: roots)]
  }

  func begin(_ request: TransferRequest, for owner: any TransferOwner) throws(TransportError) -> any Transfer {
    do {
      let transfer = try idle.popLast() ?? CurlTransfer(connections: connections, gate: gate, roots: roots)
      if names.isFull { names = try CurlNames() }
      try transfer.prepare(request, on: multi(for: request), names: names, for: owner)
      try transfer.begin()
      return transfer
    } catch {
      throw TransportError("\(error)")
    }
  }

  /// Returns the same multi handle for all requests that share connections.
  private func multi(for request: TransferRequest) -> CurlMulti {
    let place = request.proxy.map { "\($0.host):\($0.port)" } ?? request.url.origin
    return multis[Int(UInt(bitPattern: place.hashValue) % UInt(multis.count))]
  }

  func deliverEnds() {
    for multi in multis { multi.deliverEnds(deliver) }
  }

  private func deliver(_ handle: any CurlHandle, _ code: CURLcode) {
    guard let transfer = handle as? CurlTransfer else { return }
    if transfer.metSurplus, beginAgain(transfer) { return }
    let (owner, end) = transfer.conclude(code)
    // This comes before the notification, because the owner may begin another exchange at once.
    if transfer.isReusable, idle.count < Self.idleTransfers { idle.append(transfer) }
    owner?.transferEnded(end)
  }

  /// Restarts an exchange whose request has not been sent. A new connection has no unread bytes, so
  /// one restart is enough.
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
