internal import CAres
internal import Glibc

/// The owner of one c-ares channel: its sockets are watched and its timers kept by the event loop.
///
/// c-ares 1.18 gives a channel one UDP socket a name server, however many queries wait on it, and
/// closes it when none does.
///
/// It may be made on any thread, and is then used on the loop only.
@safe
final class AresChannel {
  /// What carries one query's completion through c-ares.
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
  private var timer: TimerEntry?
  private var isTouched = false
  /// Queries without an answer yet.
  private(set) var waiting = 0
  /// Queries since the channel was made.
  private(set) var asked = 0
  /// When the channel was made.
  let start: MonotonicInstant

  /// Reads resolv.conf; opens no socket.
  ///
  /// - Parameters:
  ///   - servers: `ADDRESS:PORT` with commas between, in the order to be asked; empty for those of
  ///     resolv.conf.
  ///   - onProgress: called on the loop after c-ares has read from its sockets or looked at its
  ///     timers; may call the channel.
  init(loop: EventLoop, servers: String, patience: AresResolver.Patience, onProgress: @escaping () -> Void) throws(AresError) {
    self.loop = loop
    self.onProgress = onProgress
    start = loop.now
    try Self.startLibrary()
    try AresError.check(open(patience))
    if !servers.isEmpty, unsafe ares_set_servers_ports_csv(handle, servers) != ARES_SUCCESS { throw .badServer(servers) }
  }

  deinit {
    close()
  }

  /// What /etc/hosts says of a name; empty when nothing, or when there is no such file. Reads the
  /// file anew.
  func hosts(_ name: String) -> [IPAddress] {
    var found: [IPAddress] = []
    var hints = ares_addrinfo_hints(ai_flags: Int32(ARES_AI_NOSORT), ai_family: AF_UNSPEC, ai_socktype: 0, ai_protocol: 0)
    // The channel's only source for this call is the file, so the callback has run when it returns.
    unsafe withUnsafeMutablePointer(to: &found) { found in
      unsafe ares_getaddrinfo(handle, name, nil, &hints, AresChannel.collectHosts, found)
    }
    return found
  }

  /// Asks the name servers for a name's addresses of one family.
  ///
  /// - Parameter completion: called once, inside this call or a later one of the channel, from
  ///   within c-ares: it may only note the answer.
  func query(_ name: String, _ family: AddressFamily, _ completion: @escaping (FamilyAnswer) -> Void) {
    isTouched = true
    asked += 1
    waiting += 1
    let query = Query(family: family) { answer in
      self.waiting -= 1
      completion(answer)
    }
    let internet: Int32 = 1
    unsafe ares_query(handle, name, internet, family.rawValue, AresChannel.takeAnswer, Unmanaged.passRetained(query).toOpaque())
  }

  /// Sets the timer by which c-ares is next to look at its queries; called once a turn, for
  /// ares_timeout(3) walks all of them.
  func keepTime() {
    guard isTouched else { return }
    isTouched = false
    var left = timeval()
    guard unsafe ares_timeout(handle, nil, &left) != nil else { return stopTimer() }
    // c-ares rounds down to a millisecond: one more, or the timer rings before anything is due.
    let instant = loop.now.advanced(by: .microseconds(left.tv_sec * 1_000_000 + left.tv_usec + 1000))
    if let timer, timer.instant <= instant { return }
    stopTimer()
    timer = loop.schedule(at: instant) { [weak self] in
      self?.timer = nil
      self?.process(readable: -1, writable: -1)
    }
  }

  /// Answers every waiting query with a time-out and closes the channel.
  func giveUp() {
    unsafe ares_cancel(handle)
    close()
  }

  /// Answers every waiting query with a failure, closes the sockets and frees the channel. Nothing
  /// else may be called afterwards.
  func close() {
    stopTimer()
    unsafe ares_destroy(handle)
    unsafe handle = nil
  }

  private func stopTimer() {
    if let timer { loop.cancel(timer) }
    timer = nil
  }

  private func process(readable: Int32, writable: Int32) {
    guard unsafe handle != nil else { return }
    isTouched = true
    unsafe ares_process_fd(handle, readable, writable)
    onProgress()
  }

  /// c-ares opened a socket, waits for something else on it, or is about to close it.
  private func watch(_ socket: Int32, _ readiness: Readiness) {
    guard !readiness.isEmpty else { return loop.unwatch(socket) }
    loop.watch(socket, for: readiness) { [weak self] _, ready in
      // A failed socket is handed on as both: reading or writing tells c-ares what is wrong.
      self?.process(
        readable: ready.isDisjoint(with: [.readable, .failed]) ? -1 : socket,
        writable: ready.isDisjoint(with: [.writable, .failed]) ? -1 : socket)
    }
  }
}

extension AresChannel {
  /// ares_library_init(3), once a process; what it gave.
  private static let library = ares_library_init(ARES_LIB_INIT_ALL)

  private static func startLibrary() throws(AresError) {
    try AresError.check(library)
  }

  /// Everything that the environment could change (`LOCALDOMAIN`, `RES_OPTIONS`, `HOSTALIASES`) is
  /// set here, which outranks it: no search domains, no aliases, times and tries of our own. The
  /// order of lookups is ours as well: ares_getaddrinfo(3) reads the file ("f"), ares_query(3) asks
  /// the servers. Without EDNS an answer above 512 bytes comes over TCP.
  private func open(_ patience: AresResolver.Patience) -> Int32 {
    var options = unsafe ares_options()
    unsafe options.flags = ARES_FLAG_NOALIASES | ARES_FLAG_NOSEARCH
    unsafe options.timeout = Int32(clamping: patience.firstTry.nanoseconds / 1_000_000)
    unsafe options.tries = Int32(clamping: patience.tries)
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
      return unsafe ares_init_options(&handle, &options, mask)
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
