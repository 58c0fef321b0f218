internal import Attache

/// A resolver that plays the names of a scenario by c-ares' rules, with attache's settings. It asks
/// for both families at the same time. It repeats a query without an answer after one, two and four
/// more seconds, and gives up after fifteen. When a server fails, it repeats the query immediately.
/// Use it on the loop only.
final class ScriptedResolver: Resolver {
  private final class Pending {
    let name: String
    var lookUp = DualStackLookup()
    var completions: [(Result<[IPAddress], DNSFailure>) -> Void] = []
    /// The number of queries for each family that has no answer yet.
    var tries: [AddressFamily: Int] = [.v6: 0, .v4: 0]
    var isOver = false

    init(_ name: String) {
      self.name = name
    }
  }

  private static let maximumTries = 4
  private static let firstTimeLimit = Duration.seconds(1)
  /// The time that one family has left when the other has addresses.
  private static let otherFamily = Duration.milliseconds(100)

  private let loop: EventLoop
  private let names: [String: NameScript]
  private let timeline: Timeline
  private let noteName: @Sendable (String) -> Void
  private var cache = AnswerCache()
  private var pending: [String: Pending] = [:]
  private var asked: [String: Int] = [:]
  private var isShutDown = false

  /// - Parameters:
  ///   - names: the scripts by name; all other names do not exist.
  ///   - noteName: called with each name that is asked for.
  init(loop: EventLoop, names: [String: NameScript], timeline: Timeline, noteName: @escaping @Sendable (String) -> Void = { _ in }) {
    self.loop = loop
    self.names = names
    self.timeline = timeline
    self.noteName = noteName
  }

  func resolve(_ name: String, _ completion: @escaping (Result<[IPAddress], DNSFailure>) -> Void) {
    loop.later { [self] in begin(name, completion) }
  }

  func shutdown() {
    isShutDown = true
    for item in pending.values { item.isOver = true }
    pending.removeAll()
  }

  private func begin(_ name: String, _ completion: @escaping (Result<[IPAddress], DNSFailure>) -> Void) {
    guard !isShutDown else { return }
    if let addresses = cache.addresses(of: name, at: loop.now) { return completion(.success(addresses)) }
    if let item = pending[name] { return item.completions.append(completion) }
    let item = Pending(name)
    item.completions.append(completion)
    pending[name] = item
    for family in [AddressFamily.v6, .v4] { ask(item, family) }
  }

  private func ask(_ item: Pending, _ family: AddressFamily) {
    let tries = (item.tries[family] ?? 0) + 1
    item.tries[family] = tries
    let turn = nextTurn(item.name, family)
    noteName(item.name)
    timeline.note(.dns, "asked for \(item.name), \(family.text)")
    if let turn, turn.answer == .stall {
      // No answer arrives.
    } else {
      after(turn?.delay ?? .zero, item, family) { $0.handle(turn?.answer ?? .none, item, family) }
    }
    after(Self.firstTimeLimit * (1 << (tries - 1)), item, family) { resolver in
      guard item.tries[family] == tries else { return }
      resolver.askAgain(item, family, else: .timeout)
    }
  }

  private func handle(_ answer: NameScript.Answer, _ item: Pending, _ family: AddressFamily) {
    timeline.note(.dns, "answers \(item.name), \(family.text): \(answer.meaning(family))")
    switch answer {
    case .failure, .truncated: askAgain(item, family, else: .failed)
    case .none, .noData, .loop, .stall: take(.none, of: family, item)
    case .addresses(let addresses), .aliases(_, let addresses):
      let own = addresses.filter { $0.family == family }
      let lifetime = Duration.seconds(Int64(names[item.name]?.timeToLive ?? 0))
      take(own.isEmpty ? .none : .addresses(own, lifetime: lifetime), of: family, item)
    }
  }

  private func askAgain(_ item: Pending, _ family: AddressFamily, else failure: DNSFailure) {
    guard (item.tries[family] ?? 0) < Self.maximumTries else { return take(.failure(failure), of: family, item) }
    ask(item, family)
  }

  private func take(_ answer: FamilyAnswer, of family: AddressFamily, _ item: Pending) {
    item.tries[family] = nil
    switch item.lookUp.take(answer, of: family) {
    case .wait: break
    case .waitBriefly:
      _ = loop.schedule(at: loop.now.advanced(by: Self.otherFamily)) { [weak self] in self?.end(item, with: item.lookUp.conclusion) }
    case .end(let answer): end(item, with: answer)
    }
  }

  private func end(_ item: Pending, with answer: DualStackLookup.Answer) {
    guard !item.isOver else { return }
    item.isOver = true
    pending[item.name] = nil
    if case .success(let addresses) = answer.result { cache.keep(addresses, of: item.name, for: answer.lifetime, at: loop.now) }
    for completion in item.completions { completion(answer.result) }
  }

  /// Runs an action after a delay, unless the family has its answer by then.
  private func after(
    _ delay: Duration, _ item: Pending, _ family: AddressFamily, _ action: @escaping (ScriptedResolver) -> Void
  ) {
    _ = loop.schedule(at: loop.now.advanced(by: delay)) { [weak self] in
      guard let self, !item.isOver, item.tries[family] != nil else { return }
      action(self)
    }
  }

  /// Returns the next answer; nil for a name without a script.
  private func nextTurn(_ name: String, _ family: AddressFamily) -> NameScript.Turn? {
    guard let turns = names[name]?.turns, let last = turns.last else { return nil }
    let key = "\(name) \(family.text)"
    let earlier = asked[key, default: 0]
    asked[key] = earlier + 1
    return earlier < turns.count ? turns[earlier] : last
  }
}

extension AddressFamily {
  fileprivate var text: String {
    switch self {
    case .v4: "A"
    case .v6: "AAAA"
    }
  }
}

extension IPAddress {
  fileprivate var family: AddressFamily {
    switch self {
    case .v4: .v4
    case .v6: .v6
    }
  }
}

extension NameScript.Answer {
  /// Returns a short description of an answer.
  fileprivate func meaning(_ family: AddressFamily) -> String {
    switch self {
    case .addresses(let addresses), .aliases(_, let addresses):
      addresses.contains { $0.family == family }
        ? addresses.filter { $0.family == family }.map { "\($0)" }.joined(separator: ", ") : "no address"
    case .none: "no such name"
    case .noData: "no address"
    case .loop: "itself"
    case .truncated: "more than fits"
    case .failure: "the server fails"
    case .stall: "nothing"
    }
  }
}
