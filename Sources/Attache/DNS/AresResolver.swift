/// The production resolver. It reads /etc/hosts, then asks name servers through c-ares on the
/// engine's loop. It has no thread of its own and never blocks on the network.
///
/// It queries both families in parallel. It returns every address of an answer, so that each one
/// can be checked. An answer of more than 256 records fails. Concurrent lookups of one name share
/// one answer. The answer is cached for its time to live, at most 60 seconds. A resolver may be
/// created on any thread. After that, it is used on the loop only.
package final class AresResolver: Resolver {
  /// How long to wait for name servers.
  package struct TimeLimits: Sendable {
    /// The timeout of each server in the first round over the servers. Each further round doubles
    /// it.
    package var firstTry: Duration
    /// The number of rounds over the servers. Four rounds with one second at first are 15 seconds
    /// per server.
    package var tries: Int
    /// How long to wait for the second family after the first has returned addresses. RFC 8305,
    /// section 3, calls this the resolution delay.
    package var otherFamily: Duration

    package init(firstTry: Duration = .seconds(1), tries: Int = 4, otherFamily: Duration = .milliseconds(100)) {
      self.firstTry = firstTry
      self.tries = tries
      self.otherFamily = otherFamily
    }
  }

  /// A name that is being looked up, and the completions that wait for it.
  private final class Pending {
    let name: String
    var lookUp = DualStackLookup()
    var completions: [(Result<[IPAddress], DNSFailure>) -> Void] = []
    var timer: TimerEntry?
    var isOver = false

    init(name: String) {
      self.name = name
    }
  }

  private struct Note {
    var pending: Pending
    var family: AddressFamily
    var answer: FamilyAnswer
  }

  private let loop: EventLoop
  private let servers: String
  private let timeLimits: TimeLimits
  private let beforeLookup: () -> Void
  private var cache = AnswerCache()
  private var pending: [String: Pending] = [:]
  private var channels = ResolverChannelPool()
  /// Answers that c-ares has returned but that are not delivered yet. Completions never run inside
  /// c-ares.
  private var notes: [Note] = []
  private var isShutDown = false

  /// Initialises c-ares. Sends nothing.
  ///
  /// - Parameters:
  ///   - loop: the loop that runs all of the resolver's work.
  ///   - servers: name servers as `ADDRESS:PORT`, or `[ADDRESS]:PORT` for IPv6, in the order to ask
  ///     them. If empty, the resolver uses the servers of resolv.conf.
  ///   - timeLimits: how long to wait for the servers.
  ///   - beforeLookup: called on the loop before the resolver reads /etc/hosts, and perhaps resolv.conf,
  ///     for a name.
  /// - Throws: ``AresError`` when a server is not in this form, or c-ares cannot be initialised.
  package init(
    loop: EventLoop, servers: [String] = [], timeLimits: TimeLimits = TimeLimits(), beforeLookup: @escaping () -> Void = {}
  ) throws(AresError) {
    for server in servers where !Self.isServer(server) { throw .badServer(server) }
    self.loop = loop
    self.servers = servers.joined(separator: ",")
    self.timeLimits = timeLimits
    self.beforeLookup = beforeLookup
    channels.append(try makeChannel())
    loop.atTurnEnd { [weak self] in self?.channels.tidy() }
  }

  package func resolve(_ name: String, _ completion: @escaping (Result<[IPAddress], DNSFailure>) -> Void) {
    guard !isShutDown else { return }
    if let addresses = cache.addresses(of: name, at: loop.now) { return completion(.success(addresses)) }
    if let pending = pending[name] { return pending.completions.append(completion) }
    start(name, completion)
    handOn()
  }

  /// Closes every socket. Drops pending and later lookups without calling their completions. Call
  /// this on the loop, before the loop stops.
  package func shutdown() {
    isShutDown = true
    for item in pending.values { forget(item) }
    channels.close()
    notes.removeAll()
  }

  /// Returns whether `text` has the form of a server with its port. c-ares validates the address.
  package static func isServer(_ text: String) -> Bool {
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]), port > 0 else { return false }
    let address = text[..<colon]
    let isBracketed = address.hasPrefix("[") && address.hasSuffix("]")
    return !address.isEmpty && !address.contains(",") && isBracketed == address.contains(":")
  }
}

extension AresResolver {
  private func start(_ name: String, _ completion: @escaping (Result<[IPAddress], DNSFailure>) -> Void) {
    beforeLookup()
    guard let channel = channelWithRoom() else { return completion(.failure(.failed)) }
    let hosts = channel.hosts(name)
    guard hosts.isEmpty else { return completion(.success(hosts)) }
    let item = Pending(name: name)
    item.completions.append(completion)
    pending[name] = item
    for family in [AddressFamily.v6, .v4] {
      channel.query(name, family) { [weak self] answer in
        self?.notes.append(Note(pending: item, family: family, answer: answer))
      }
    }
  }

  private func channelWithRoom() -> AresChannel? {
    if let channel = channels.channelWithRoom(at: loop.now) { return channel }
    guard let channel = try? makeChannel() else { return nil }
    channels.append(channel)
    return channel
  }

  private func makeChannel() throws(AresError) -> AresChannel {
    try AresChannel(loop: loop, servers: servers, timeLimits: timeLimits) { [weak self] in self?.handOn() }
  }

  /// Delivers the stored answers. Runs outside c-ares, so a completion may call the resolver.
  private func handOn() {
    while !notes.isEmpty {
      let batch = notes
      notes.removeAll(keepingCapacity: true)
      for note in batch where !note.pending.isOver { take(note) }
    }
  }

  private func take(_ note: Note) {
    let item = note.pending
    switch item.lookUp.take(note.answer, of: note.family) {
    case .wait: break
    case .waitBriefly:
      // The timer is cancelled with its lookup, so the lookup found under the name is this one.
      let name = item.name
      item.timer = loop.schedule(at: loop.now.advanced(by: timeLimits.otherFamily)) { [weak self] in
        guard let self, let item = pending[name] else { return }
        end(item, with: item.lookUp.conclusion)
      }
    case .end(let answer): end(item, with: answer)
    }
  }

  private func forget(_ item: Pending) {
    item.isOver = true
    if let timer = item.timer { loop.cancel(timer) }
    pending[item.name] = nil
  }

  private func end(_ item: Pending, with answer: DualStackLookup.Answer) {
    forget(item)
    if case .success(let addresses) = answer.result {
      cache.keep(addresses, of: item.name, for: answer.lifetime, at: loop.now)
    }
    for completion in item.completions { completion(answer.result) }
  }
}

/// The c-ares channels of a resolver, the newest last. Only the newest channel takes lookups. The
/// others wait for their last answers.
///
/// A channel uses one source port per server, and c-ares accepts an answer by that port and a
/// 16-bit identifier. A new channel takes over after ``maximumQueries`` or ``maximumAge``, so that
/// no port stays in use forever and a changed resolv.conf is read. The pool is limited to
/// ``maximumChannels`` UDP sockets per server, the same number of TCP sockets, and 16,384
/// unanswered names. Beyond that, the queries of the oldest channel end with a timeout.
struct ResolverChannelPool {
  static let maximumChannels = 16
  /// Each name needs two queries. The limit is far below the 65,536 identifiers of a channel.
  static let maximumQueries = 2048
  static let maximumAge = Duration.seconds(60)

  private var channels: [AresChannel] = []

  /// Returns the channel for the next lookup, or nil when a new channel is needed.
  func channelWithRoom(at now: MonotonicInstant) -> AresChannel? {
    guard let newest = channels.last, newest.asked + 2 <= Self.maximumQueries else { return nil }
    return newest.start.duration(to: now) < Self.maximumAge ? newest : nil
  }

  /// Adds the channel that takes lookups from now on.
  mutating func append(_ channel: AresChannel) {
    if channels.count == Self.maximumChannels { channels.removeFirst().giveUp() }
    channels.append(channel)
  }

  /// Closes the old channels without pending queries and sets the timers of the others. Called at
  /// the end of every turn.
  mutating func tidy() {
    let newest = channels.last
    for channel in channels where channel !== newest && channel.waiting == 0 { channel.close() }
    channels.removeAll { $0 !== newest && $0.waiting == 0 }
    for channel in channels { channel.setTimer() }
  }

  /// Closes all channels. Pending queries fail.
  mutating func close() {
    let all = channels
    channels = []
    for channel in all { channel.close() }
  }
}
