/// The real resolver: /etc/hosts, then name servers, by c-ares on the engine's loop; no thread of
/// its own, nothing that blocks on the network.
///
/// Both families are asked at once. Every address of an answer is handed on, so that every one can
/// be checked; an answer of more than 256 records fails. Look-ups for one name share one answer,
/// which is kept for its time to live, 60 seconds at most. It may be made on any thread, and is
/// then used on the loop only.
package final class AresResolver: Resolver {
  /// How long name servers are waited for.
  package struct Patience: Sendable {
    /// The time that each server has in the first round over the servers; each further round
    /// doubles it.
    package var firstTry: Duration
    /// The rounds over the servers: four are 15 seconds a server with one second at first.
    package var tries: Int
    /// The time that one family has left when the other has addresses; RFC 8305, 3, calls it the
    /// resolution delay.
    package var otherFamily: Duration

    package init(firstTry: Duration = .seconds(1), tries: Int = 4, otherFamily: Duration = .milliseconds(100)) {
      self.firstTry = firstTry
      self.tries = tries
      self.otherFamily = otherFamily
    }
  }

  /// One name that is being looked up, and who waits for it.
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
  private let patience: Patience
  private var cache = AnswerCache()
  private var pending: [String: Pending] = [:]
  private var channels = ResolverChannelPool()
  /// What c-ares has answered but nobody has been told: completions never run inside c-ares.
  private var notes: [Note] = []
  private var isShutDown = false

  /// Sets c-ares up; sends nothing.
  ///
  /// - Parameters:
  ///   - loop: where all happens.
  ///   - servers: name servers as `ADDRESS:PORT`, `[ADDRESS]:PORT` for IPv6, in the order to be
  ///     asked; empty for those of resolv.conf.
  ///   - patience: how long to wait for them.
  /// - Throws: ``AresError`` when a server is not written so, or c-ares cannot be set up.
  package init(loop: EventLoop, servers: [String] = [], patience: Patience = Patience()) throws(AresError) {
    for server in servers where !Self.isServer(server) { throw .badServer(server) }
    self.loop = loop
    self.servers = servers.joined(separator: ",")
    self.patience = patience
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

  /// Closes every socket; what waits is forgotten, and so is what comes later. On the loop, before
  /// the loop is stopped.
  package func shutdown() {
    isShutDown = true
    for item in pending.values { forget(item) }
    channels.close()
    notes.removeAll()
  }

  /// Whether `text` has the form of a server with its port; c-ares judges the address itself.
  package static func isServer(_ text: String) -> Bool {
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]), port > 0 else { return false }
    let address = text[..<colon]
    let isBracketed = address.hasPrefix("[") && address.hasSuffix("]")
    return !address.isEmpty && !address.contains(",") && isBracketed == address.contains(":")
  }
}

extension AresResolver {
  private func start(_ name: String, _ completion: @escaping (Result<[IPAddress], DNSFailure>) -> Void) {
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
    try AresChannel(loop: loop, servers: servers, patience: patience) { [weak self] in self?.handOn() }
  }

  /// Tells what c-ares has noted; outside c-ares, so that whoever is told may do as he likes.
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
      // The timer goes with the look-up, so what it finds under the name is this one.
      let name = item.name
      item.timer = loop.schedule(at: loop.now.advanced(by: patience.otherFamily)) { [weak self] in
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
