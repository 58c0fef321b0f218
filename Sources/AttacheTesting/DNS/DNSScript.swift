internal import NIOCore
internal import Synchronization

/// The state of a stub DNS server: the answers by name, the queries received, and the waiters.
final class DNSScript: Sendable {
  typealias Send = @Sendable ([UInt8]) -> Void

  private struct Held {
    var query: DNSMessage
    var overTCP: Bool
    var send: Send
  }

  private struct Waiter {
    var name: String?
    var count: Int
    var continuation: CheckedContinuation<Void, Never>
  }

  private struct State {
    var answers: [String: StubDNS.Answer]
    var queries: [StubDNS.Query] = []
    var asked: [DNSMessage.Question: Int] = [:]
    var held: [String: [Held]] = [:]
    var waiters: [Waiter] = []

    func count(of name: String?) -> Int {
      name == nil ? queries.count : queries.count { $0.question.name == name }
    }

    mutating func takeSatisfiedWaiters() -> [Waiter] {
      let satisfied = waiters.filter { count(of: $0.name) >= $0.count }
      waiters = waiters.filter { count(of: $0.name) < $0.count }
      return satisfied
    }
  }

  private let state: Mutex<State>
  private let others: StubDNS.Answer
  private let watch: @Sendable (StubDNS.Event) -> Void

  init(answers: [String: StubDNS.Answer], others: StubDNS.Answer, watch: @escaping @Sendable (StubDNS.Event) -> Void) {
    self.watch = watch
    state = Mutex(State(answers: answers))
    self.others = others
  }

  var queries: [StubDNS.Query] {
    state.withLock { $0.queries }
  }

  func set(_ answer: StubDNS.Answer, for name: String) {
    state.withLock { $0.answers[name] = answer }
  }

  /// Records a query and answers it as scripted.
  ///
  /// - Parameter send: sends bytes to the client; can be called from any thread.
  func receive(_ bytes: [UInt8], from client: SocketAddress?, overTCP: Bool, on loop: any EventLoop, _ send: @escaping Send) {
    guard let query = try? DNSMessage(bytes), let question = query.questions.first else { return }
    let (reply, waiters) = state.withLock { state in
      let earlier = state.asked[question, default: 0]
      state.asked[question] = earlier + 1
      state.queries.append(StubDNS.Query(question: question, overTCP: overTCP, clientPort: client?.port ?? 0))
      let reply = (state.answers[question.name] ?? others).reply(to: query, earlier: earlier, overTCP: overTCP)
      if reply == .hold { state.held[question.name, default: []].append(Held(query: query, overTCP: overTCP, send: send)) }
      return (reply, state.takeSatisfiedWaiters())
    }
    watch(.asked(question))
    carryOut(reply, on: loop, send)
    for waiter in waiters { waiter.continuation.resume() }
  }

  /// Answers every held query for `name`.
  func release(_ name: String, with answer: StubDNS.Answer) {
    let held = state.withLock { $0.held.removeValue(forKey: name) ?? [] }
    for item in held {
      if case .send(let bytes) = answer.reply(to: item.query, earlier: 0, overTCP: item.overTCP) { item.send(bytes) }
    }
  }

  /// Returns when `count` queries have arrived since the start; only queries for `name` count if it
  /// is given.
  func waitForQueries(of name: String?, count: Int) async {
    await withCheckedContinuation { continuation in
      let waiters = state.withLock { state in
        state.waiters.append(Waiter(name: name, count: count, continuation: continuation))
        return state.takeSatisfiedWaiters()
      }
      for waiter in waiters { waiter.continuation.resume() }
    }
  }

  private func carryOut(_ reply: StubDNS.Reply, on loop: any EventLoop, _ send: @escaping Send) {
    switch reply {
    case .send(let bytes):
      if let message = try? DNSMessage(bytes) { watch(.answered(message)) }
      send(bytes)
    case .hold: break
    case .later(let delay, let reply): loop.scheduleTask(in: TimeAmount(delay)) { self.carryOut(reply, on: loop, send) }
    }
  }
}
