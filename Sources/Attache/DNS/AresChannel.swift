internal import CAres
internal import Glibc

/// Owns one c-ares channel. The event loop watches its sockets and runs its timers.
///
/// c-ares 1.18 uses one UDP socket per name server for all queries of a channel. It closes the
/// socket when no query is pending.
///
/// A channel may be created on any thread. After that, it is used on the loop only.
@safe
final class AresChannel {
  /// Carries the completion of one query through c-ares.
  private final class Query {
    let family: AddressFamily
    let completion: (FamilyAnswer) -> Void

    init(family: AddressFamily, completion: @escaping (FamilyAnswer) -> Void) {
      self.family = family
      self.completion = completion
    }
  }

  private let loop: EventLoop
  private let onProgress: () -> Void
  private var handle: ares_channel?
  private var timer: (entry: TimerEntry, instant: MonotonicInstant)?
  private var isTouched = false
  /// The errno of the last socket that c-ares could not open, or 0. c-ares writes it.
  private let socketError = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
  /// The number of queries without an answer.
  private(set) var waiting = 0
  /// The number of queries sent since the channel was created.
  private(set) var asked = 0
  /// When the channel was created.
  let start: MonotonicInstant

  /// Reads resolv.conf. Opens no socket.
  ///
  /// - Parameters:
  ///   - servers: name servers as `ADDRESS:PORT`, separated by commas, in the order to ask them. If
  ///     empty, the channel uses the servers of resolv.conf.
  ///   - onProgress: called on the loop after c-ares has read its sockets or checked its timers. It
  ///     may call the channel.
  init(loop: EventLoop, servers: String, timeLimits: AresResolver.TimeLimits, onProgress: @escaping () -> Void) throws(AresError) {
    self.loop = loop
    self.onProgress = onProgress
    start = loop.now
    unsafe socketError.initialize(to: 0)
    try Self.startLibrary()
    try AresError.check(open(timeLimits))
    if !servers.isEmpty, unsafe ares_set_servers_ports_csv(handle, servers) != ARES_SUCCESS { throw .badServer(servers) }
  }

  deinit {
    close()
    unsafe socketError.deallocate()
  }

  /// Returns the addresses of a name in /etc/hosts. Returns an empty array when there are none or
  /// the file does not exist. Reads the file on every call.
  func hosts(_ name: String) -> [IPAddress] {
    var found: [IPAddress] = []
    var hints = ares_addrinfo_hints(ai_flags: Int32(ARES_AI_NOSORT), ai_family: AF_UNSPEC, ai_socktype: 0, ai_protocol: 0)
    // This call uses only the file as its source, so the callback has run when the call returns.
    unsafe withUnsafeMutablePointer(to: &found) { found in
      unsafe ares_getaddrinfo(handle, name, nil, &hints, AresChannel.collectHosts, found)
    }
    return found
  }

  /// Asks the name servers for the addresses of a name in one family.
  ///
  /// - Parameter completion: called once by c-ares, during this call or a later call to the
  ///   channel. It may only store the answer.
  func query(_ name: String, _ family: AddressFamily, _ completion: @escaping (FamilyAnswer) -> Void) {
    isTouched = true
    asked += 1
    waiting += 1
    let query = Query(family: family) { answer in
      self.waiting -= 1
      completion(answer == .failure(.failed) ? self.failure : answer)
    }
    unsafe socketError.pointee = 0
    let internet: Int32 = 1
    unsafe ares_query(handle, name, internet, family.rawValue, AresChannel.takeAnswer, Unmanaged.passRetained(query).toOpaque())
  }

  /// The failure of a query without an answer. A lack of descriptors persists through the tries of
  /// the query.
  private var failure: FamilyAnswer {
    let number = unsafe socketError.pointee
    return .failure(number == 0 ? .failed : .refused(number))
  }

  /// Sets the timer for the next check by c-ares. Called once per turn, because ares_timeout(3)
  /// walks all queries.
  func setTimer() {
    guard isTouched else { return }
    isTouched = false
    var left = timeval()
    guard unsafe ares_timeout(handle, nil, &left) != nil else { return stopTimer() }
    // c-ares rounds down to a millisecond. Add one, so that the timer does not fire too early.
    let instant = loop.now.advanced(by: .microseconds(left.tv_sec * 1_000_000 + left.tv_usec + 1000))
    if let timer, timer.instant <= instant { return }
    stopTimer()
    let entry = loop.schedule(at: instant) { [weak self] in
      self?.timer = nil
      self?.process(readable: -1, writable: -1)
    }
    timer = (entry, instant)
  }

  /// Ends every pending query with a timeout and closes the channel.
  func giveUp() {
    unsafe ares_cancel(handle)
    close()
  }

  /// Fails every pending query, closes the sockets and frees the channel. No other method may be
  /// called afterwards.
  func close() {
    stopTimer()
    unsafe ares_destroy(handle)
    unsafe handle = nil
  }

  private func stopTimer() {
    if let timer { loop.cancel(timer.entry) }
    timer = nil
  }

  private func process(readable: Int32, writable: Int32) {
    guard unsafe handle != nil else { return }
    isTouched = true
    unsafe ares_process_fd(handle, readable, writable)
    onProgress()
  }

  /// Called when c-ares has opened a socket, waits for a different event on it, or is about to
  /// close it.
  private func watch(_ socket: Int32, _ readiness: Readiness) {
    guard !readiness.isEmpty else { return loop.unwatch(socket) }
    loop.watch(socket, for: readiness) { [weak self] _, ready in
      // Report a failed socket as readable and writable. c-ares finds the error when it reads or
      // writes.
      self?.process(
        readable: ready.isDisjoint(with: [.readable, .failed]) ? -1 : socket,
        writable: ready.isDisjoint(with: [.writable, .failed]) ? -1 : socket)
    }
  }
}

extension AresChannel {
  /// The result of ares_library_init(3), which runs once per process.
  private static let library = ares_library_init(ARES_LIB_INIT_ALL)

  private static func startLibrary() throws(AresError) {
    try AresError.check(library)
  }

  /// Opens the channel. The options here override everything that the environment can change
  /// (`LOCALDOMAIN`, `RES_OPTIONS`, `HOSTALIASES`): no search domains, no aliases, and attache's
  /// own timeouts and tries. The lookup order is fixed as well: ares_getaddrinfo(3) reads the file
  /// ("f"), and ares_query(3) asks the servers. Without EDNS, an answer above 512 bytes arrives
  /// over TCP.
  private func open(_ timeLimits: AresResolver.TimeLimits) -> Int32 {
    var options = unsafe ares_options()
    unsafe options.flags = ARES_FLAG_NOALIASES | ARES_FLAG_NOSEARCH
    unsafe options.timeout = Int32(clamping: timeLimits.firstTry.nanoseconds / 1_000_000)
    unsafe options.tries = Int32(clamping: timeLimits.tries)
    unsafe options.ndots = 1
    unsafe options.ndomains = 0
    unsafe options.sock_state_cb = AresChannel.takeSocketState
    unsafe options.sock_state_cb_data = Unmanaged.passUnretained(self).toOpaque()
    let mask =
      ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_NDOTS | ARES_OPT_NOROTATE | ARES_OPT_DOMAINS | ARES_OPT_LOOKUPS
      | ARES_OPT_SOCK_STATE_CB
    var lookups = [CChar(UInt8(ascii: "f")), 0]
    return unsafe lookups.withUnsafeMutableBufferPointer { lookups in
      unsafe options.lookups = lookups.baseAddress
      let code = unsafe ares_init_options(&handle, &options, mask)
      if code == ARES_SUCCESS { unsafe ares_keep_socket_error(handle, socketError) }
      return code
    }
  }

  private static let takeSocketState: ares_sock_state_cb = { owner, socket, readable, writable in
    guard let owner = unsafe owner else { return }
    var readiness: Readiness = []
    if readable != 0 { readiness.insert(.readable) }
    if writable != 0 { readiness.insert(.writable) }
    unsafe Unmanaged<AresChannel>.fromOpaque(owner).takeUnretainedValue().watch(socket, readiness)
  }

  private static let takeAnswer: ares_callback = { owner, status, _, bytes, count in
    guard let owner = unsafe owner else { return }
    let query = unsafe Unmanaged<Query>.fromOpaque(owner).takeRetainedValue()
    let message = unsafe UnsafeBufferPointer(start: bytes, count: bytes == nil ? 0 : Int(count))
    query.completion(unsafe FamilyAnswer(status: status, message: message, family: query.family))
  }

  private static let collectHosts: ares_addrinfo_callback = { found, status, _, information in
    guard let found = unsafe found?.assumingMemoryBound(to: [IPAddress].self) else { return }
    defer { unsafe ares_freeaddrinfo(information) }
    guard status == ARES_SUCCESS else { return }
    var node = unsafe information?.pointee.nodes
    while let here = unsafe node?.pointee {
      let length = unsafe Int(here.ai_addrlen)
      if let address = unsafe here.ai_addr.flatMap({ unsafe IPAddress(socketAddress: $0, length: length) }) {
        unsafe found.pointee.append(address)
      }
      unsafe node = here.ai_next
    }
  }
}
