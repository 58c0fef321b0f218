internal import CCurl
internal import Glibc
internal import Synchronization

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

/// A DNS cache of libcurl, in which transfers pin names to addresses (CURLOPT_RESOLVE).
///
/// libcurl keeps a pinned name for an hour (CURLOPT_DNS_CACHE_TIMEOUT), and walks through the whole
/// cache whenever a transfer ends. So a cache takes a limited number of names. It is freed when its
/// last transfer uses another cache. Used on the loop only.
@safe
final class CurlNames {
  /// The maximum number of names, where a name counts each time that it is pinned.
  static let maximumCount = 256

  let share: UnsafeMutableRawPointer
  private var count = 0

  /// - Throws: ``CurlError`` when libcurl cannot create the cache.
  init() throws(CurlError) {
    guard let share = unsafe curl_share_init() else { throw CurlError(call: "curl_share_init", code: CURLSHE_NOMEM.rawValue) }
    unsafe self.share = unsafe share
    // Without lock functions, since one thread uses the cache.
    let code = unsafe curl_share_setopt_int(share, CURLSHOPT_SHARE, Int32(CURL_LOCK_DATA_DNS.rawValue))
    guard code == CURLSHE_OK else { throw CurlError(call: "curl_share_setopt", code: code.rawValue) }
  }

  deinit {
    unsafe curl_share_cleanup(share)
  }

  var isFull: Bool { count >= Self.maximumCount }

  /// Counts a name that is pinned in this cache.
  func add() {
    count += 1
  }
}

/// The root certificates for all connections of a fetcher, parsed at the first handshake and then
/// kept. Safe to use from any thread. Two threads with the first handshake at the same time both
/// parse them, and one result is kept.
///
/// libcurl parses them once for each of its multi handles, which takes 51 ms and 0.8 MB with the
/// system's roots.
final class CurlRoots: Sendable {
  let path: String
  private let roots = AtomicLazyReference<OpenSSL.Roots>()

  /// - Parameter path: a PEM file; nil for the system's roots.
  /// - Returns: nil when `path` is nil and libcurl was not built to use a file with the system's
  ///   roots, or cannot read it.
  init?(_ path: String?) {
    guard let path = path ?? Self.systemRoots else { return nil }
    self.path = path
  }

  /// The file of root certificates that libcurl was built to use, or nil if there is none.
  private static let systemRoots: String? = {
    guard let information = unsafe curl_version_info(CURLVERSION_SEVENTH), let path = unsafe information.pointee.cainfo,
      unsafe access(path, R_OK) == 0
    else { return nil }
    return unsafe String(cString: path)
  }()

  /// Parses the roots now, so that the processes that are forked from this one need not.
  func load() {
    _ = read()
  }

  /// Makes a connection trust these roots and no others.
  ///
  /// - Parameter context: the `SSL_CTX` of the new connection.
  /// - Returns: false when the file cannot be read or has no certificates. The next handshake tries
  ///   again.
  func use(in context: UnsafeMutableRawPointer) -> Bool {
    unsafe read()?.use(in: context) ?? false
  }

  private func read() -> OpenSSL.Roots? {
    roots.load() ?? OpenSSL.Roots(contentsOf: path).map { roots.storeIfNil($0) }
  }
}

/// Tracks the connections that libcurl keeps open: the socket of each, and whether it has
/// unexpected bytes to read.
///
/// libcurl 7.88.1 reads bytes that an origin has sent after a body as the response to the next
/// request on the same connection. So a reused connection must have no unread bytes before its
/// request is sent. HTTP/2 is exempt: it frames its responses and may send at any time. Used on the
/// loop only.
final class CurlConnections {
  /// The two ends of a connection, as libcurl reports them before a request.
  struct Ends: Hashable {
    var address: IPAddress
    var port: Int32
    var localPort: Int32
  }

  /// The TLS sessions whose peer has sent a close_notify, by the address of their `SSL`.
  private var closedSessions: Set<UInt> = []
  /// Why certificates were not accepted, by the address of the connection's `SSL_CTX`.
  private var faults: [UInt: CertificateFault] = [:]
  private var sockets: [Ends: Int32] = [:]
  private var ends: [Int32: Ends] = [:]

  /// Records a new connection. Its socket is one of `opened`.
  func add(_ ends: Ends, among opened: [Int32]) {
    guard let socket = opened.last(where: { Self.localPort(of: $0) == ends.localPort }) else { return }
    sockets[ends] = socket
    self.ends[socket] = ends
  }

  /// Removes a socket that is about to be closed.
  func forget(_ socket: Int32) {
    guard let ends = ends.removeValue(forKey: socket), sockets[ends] == socket else { return }
    sockets[ends] = nil
  }

  /// Returns whether a connection is open.
  func isOpen(_ ends: Ends) -> Bool {
    sockets[ends] != nil
  }

  /// Records that the peer of a TLS session sends nothing more (close_notify; RFC 8446, 6.1).
  func noteClose(of session: UInt) {
    closedSessions.insert(session)
  }

  /// Returns whether the peer of a session has sent a close_notify since the last call, and removes
  /// the record.
  func takeClose(of session: UInt) -> Bool {
    closedSessions.remove(session) != nil
  }

  /// Records why the certificate of a connection is not accepted: the first fault of its chain.
  func note(_ fault: CertificateFault, in context: UInt) {
    if faults[context] == nil { faults[context] = fault }
  }

  /// Returns why the certificate of a connection was not accepted, and removes the record.
  func takeFault(in context: UInt) -> CertificateFault? {
    faults.removeValue(forKey: context)
  }

  /// Returns whether an idle HTTP/1 connection has unread bytes; false for an unknown connection.
  ///
  /// Over TLS, the bytes may be a session ticket or a close_notify instead of surplus bytes after a
  /// body. Then the only cost is a new connection.
  func holdsSurplus(_ ends: Ends) -> Bool {
    guard let socket = sockets[ends] else { return false }
    var byte: UInt8 = 0
    return unsafe recv(socket, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) > 0
  }

  private static func localPort(of socket: Int32) -> Int32? {
    var name = sockaddr_in6()
    var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    // Both families keep the port at the same offset.
    let code = unsafe withUnsafeMutablePointer(to: &name) { name in
      unsafe name.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(socket, $0, &length) }
    }
    return code == 0 ? Int32(UInt16(bigEndian: name.sin6_port)) : nil
  }
}
