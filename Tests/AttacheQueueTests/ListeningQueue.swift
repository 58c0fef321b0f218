import Attache
import AttacheQueue
import Synchronization

/// A queue that records what it is given and answers as the test says. No worker uses it.
final class ListeningQueue: PayloadQueue {
  private struct State {
    var batches: [[NewPayload]] = []
    var keys: Set<[UInt8]> = []
    /// The results by number, from 1; nil for a payload without a result.
    var results: [ResultPage.Entry?] = []
    var read: Set<Int64> = []
    var holds: [Int64: String] = [:]
    var counts: Result<QueueCounts, QueueError> = .success(QueueCounts())
    var load = QueueLoad()
    var questions = 0
  }

  private let state = Mutex(State())
  private let room: Int
  private let onQuestion: @Sendable (Int) -> Void

  /// - Parameters:
  ///   - room: the number of payloads that fit.
  ///   - onQuestion: called before each query for results or counts, with its number from 1.
  init(room: Int = .max, onQuestion: @escaping @Sendable (Int) -> Void = { _ in }) {
    (self.room, self.onQuestion) = (room, onQuestion)
  }

  let capabilities = QueueCapabilities(leasesEndWithMachine: true)
  let identity = ""

  var batches: [[NewPayload]] { state.withLock(\.batches) }
  var payloads: [NewPayload] { batches.flatMap(\.self) }
  /// The lines as text.
  var lines: [String] { payloads.map { String(decoding: $0.line, as: UTF8.self) } }
  var read: Set<Int64> { state.withLock(\.read) }

  func enqueue(_ payloads: [NewPayload], batch: String) throws(QueueError) -> Int { try enqueue(payloads) }
  func forgetBatch(_ batch: String) {}

  func knows(_ keys: [[UInt8]]) -> Int { state.withLock { state in keys.count { state.keys.contains($0) } } }

  func unlistedHolds(_ paths: [String]) -> [String] { state.withLock { state in paths.filter { !state.holds.values.contains($0) } } }

  func anyHold() -> String? { state.withLock { $0.holds.values.first } }

  /// Adds a payload with its result; nil for none.
  func add(result line: String?, hold: String? = nil) {
    state.withLock { state in
      let id = Int64(state.results.count + 1)
      state.results.append(
        line.map { .init(id: id, line: Array($0.utf8), record: Array("{\"line\":\(id)}\n".utf8), outcome: .passthrough, reason: nil) })
      if let hold { state.holds[id] = hold }
    }
  }

  /// Gives a payload its result.
  func decide(_ id: Int64, _ line: String) {
    state.withLock {
      $0.results[Int(id - 1)] = .init(id: id, line: Array(line.utf8), record: [], outcome: .passthrough, reason: nil)
    }
  }

  func stand(_ counts: Result<QueueCounts, QueueError>) {
    state.withLock { $0.counts = counts }
  }

  func stand(_ load: QueueLoad) {
    state.withLock { $0.load = load }
  }

  private func ask() {
    onQuestion(
      state.withLock { state in
        state.questions += 1
        return state.questions
      })
  }

  func enqueue(_ payloads: [NewPayload]) throws(QueueError) -> Int {
    let room = room
    let result: Result<Int, QueueError> = state.withLock { state in
      guard state.batches.joined().count + payloads.count <= room else { return .failure(.full("/queue")) }
      let new = payloads.filter { payload in payload.key.map { state.keys.insert($0).inserted } ?? true }
      state.batches.append(new)
      return .success(new.count)
    }
    return try result.get()
  }

  func results(_ request: ResultRequest) throws(QueueError) -> ResultPage {
    ask()
    return state.withLock { state in
      var page = ResultPage(entries: [], last: request.after, isAtEnd: true)
      for (index, entry) in state.results.enumerated().dropFirst(Int(request.after)) {
        guard page.entries.count < request.limit else {
          page.isAtEnd = false
          break
        }
        if entry == nil, request.stopsAtUndecided { break }
        page.last = Int64(index + 1)
        if let entry, !request.onlyUnread || !state.read.contains(entry.id) { page.entries.append(entry) }
      }
      return page
    }
  }

  func markRead(_ ids: [Int64]) throws(QueueError) -> [String] {
    state.withLock { state in
      state.read.formUnion(ids)
      return ids.compactMap { state.holds[$0] }
    }
  }

  func counts() throws(QueueError) -> QueueCounts {
    ask()
    return try state.withLock(\.counts).get()
  }

  func load() -> QueueLoad { state.withLock(\.load) }

  func claim(_ request: ClaimRequest) throws(QueueError) -> Claim { Claim(leases: [], hasSuspects: false, next: nil) }
  func renew(_ leases: [LeaseToken], for span: Duration) throws(QueueError) -> Set<LeaseToken> { [] }
  func finish(_ results: [FinishedPayload]) throws(QueueError) -> Set<LeaseToken> { [] }
  func giveBack(_ payloads: [ReturnedPayload]) throws(QueueError) -> Set<LeaseToken> { [] }
  func find(_ filter: PayloadFilter, after id: Int64, limit: Int) -> PayloadMatches { PayloadMatches(last: id, isAtEnd: true) }
  func histories(of ids: [Int64]) -> [PayloadHistory] { [] }
  func content(of id: Int64) -> PayloadContent? { nil }
  func pause(_ stage: PayloadEvent.Stage, why: String?) {}
  func resume(_ stage: PayloadEvent.Stage) -> Bool { false }
  func retry(_ ids: [Int64]) -> Int { 0 }
  func redeliver(_ ids: [Int64]) -> Int { 0 }
  func cancel(_ ids: [Int64], _ why: String) -> (payloads: Int, released: [String]) { (0, []) }
  func purge(_ ids: [Int64], includesUndelivered: Bool) -> (payloads: Int, released: [String]) { (0, []) }
  func shareDelivery(_ share: DeliveryShare) {}
  func settle(_ settled: [SettledDelivery], claiming request: DeliveryRequest?) -> DeliveryClaim { DeliveryClaim() }
  func renewDeliveries(_ leases: [LeaseToken], for span: Duration) -> Set<LeaseToken> { [] }
  func sync() throws(QueueError) {}
  func close() {}
}
