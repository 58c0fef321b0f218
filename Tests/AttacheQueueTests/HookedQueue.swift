import Attache
import AttacheQueue
import Synchronization

/// A queue that calls a hook of the test before each call; the hook may make the call fail.
final class HookedQueue: PayloadQueue {
  enum Call: Hashable {
    case enqueue, enqueueBatch, forgetBatch, claim, renew, finish, giveBack, settle, sync
  }

  private struct State {
    var hooks: [Call: Hook] = [:]
    var attempts: [Int] = []
  }

  private struct Hook {
    var body: @Sendable () throws(QueueError) -> Void
  }

  private let queue: any PayloadQueue
  private let state = Mutex(State())

  init(_ queue: any PayloadQueue) {
    self.queue = queue
  }

  /// The attempt numbers of the leases so far.
  var attempts: [Int] { state.withLock(\.attempts) }

  var capabilities: QueueCapabilities { queue.capabilities }
  var identity: String { queue.identity }

  func before(_ call: Call, _ body: @escaping @Sendable () throws(QueueError) -> Void) {
    state.withLock { $0.hooks[call] = Hook(body: body) }
  }

  private func called(_ call: Call) throws(QueueError) {
    try state.withLock { $0.hooks[call] }?.body()
  }

  func claim(_ request: ClaimRequest) throws(QueueError) -> Claim {
    try called(.claim)
    let claim = try queue.claim(request)
    state.withLock { $0.attempts += claim.leases.map(\.attempt) }
    return claim
  }

  func renew(_ leases: [LeaseToken], for span: Duration) throws(QueueError) -> Set<LeaseToken> {
    let refused = try queue.renew(leases, for: span)
    try called(.renew)
    return refused
  }

  func finish(_ results: [FinishedPayload]) throws(QueueError) -> Set<LeaseToken> {
    try called(.finish)
    return try queue.finish(results)
  }

  func giveBack(_ payloads: [ReturnedPayload]) throws(QueueError) -> Set<LeaseToken> {
    try called(.giveBack)
    return try queue.giveBack(payloads)
  }

  func enqueue(_ payloads: [NewPayload]) throws(QueueError) -> Int {
    try called(.enqueue)
    return try queue.enqueue(payloads)
  }

  func enqueue(_ payloads: [NewPayload], batch: String) throws(QueueError) -> Int {
    try called(.enqueueBatch)
    return try queue.enqueue(payloads, batch: batch)
  }

  func forgetBatch(_ batch: String) throws(QueueError) {
    try called(.forgetBatch)
    try queue.forgetBatch(batch)
  }

  func knows(_ keys: [[UInt8]]) throws(QueueError) -> Int { try queue.knows(keys) }
  func results(_ request: ResultRequest) throws(QueueError) -> ResultPage { try queue.results(request) }
  func markRead(_ ids: [Int64]) throws(QueueError) -> [String] { try queue.markRead(ids) }
  func anyHold() throws(QueueError) -> String? { try queue.anyHold() }
  func unlistedHolds(_ paths: [String]) throws(QueueError) -> [String] { try queue.unlistedHolds(paths) }
  func counts() throws(QueueError) -> QueueCounts { try queue.counts() }
  func load() throws(QueueError) -> QueueLoad { try queue.load() }
  func find(_ filter: PayloadFilter, after id: Int64, limit: Int) throws(QueueError) -> PayloadMatches {
    try queue.find(filter, after: id, limit: limit)
  }
  func histories(of ids: [Int64]) throws(QueueError) -> [PayloadHistory] { try queue.histories(of: ids) }
  func content(of id: Int64) throws(QueueError) -> PayloadContent? { try queue.content(of: id) }
  func pause(_ stage: PayloadEvent.Stage, why: String?) throws(QueueError) { try queue.pause(stage, why: why) }
  func resume(_ stage: PayloadEvent.Stage) throws(QueueError) -> Bool { try queue.resume(stage) }
  func retry(_ ids: [Int64]) throws(QueueError) -> Int { try queue.retry(ids) }
  func redeliver(_ ids: [Int64]) throws(QueueError) -> Int { try queue.redeliver(ids) }
  func cancel(_ ids: [Int64], _ why: String) throws(QueueError) -> (payloads: Int, released: [String]) { try queue.cancel(ids, why) }
  func purge(_ ids: [Int64], includesUndelivered: Bool) throws(QueueError) -> (payloads: Int, released: [String]) {
    try queue.purge(ids, includesUndelivered: includesUndelivered)
  }
  func shareDelivery(_ share: DeliveryShare) throws(QueueError) { try queue.shareDelivery(share) }
  func settle(_ settled: [SettledDelivery], claiming request: DeliveryRequest?) throws(QueueError) -> DeliveryClaim {
    try called(.settle)
    return try queue.settle(settled, claiming: request)
  }
  func renewDeliveries(_ leases: [LeaseToken], for span: Duration) throws(QueueError) -> Set<LeaseToken> {
    let refused = try queue.renewDeliveries(leases, for: span)
    try called(.renew)
    return refused
  }
  func sync() throws(QueueError) {
    try called(.sync)
    try queue.sync()
  }
  func close() { queue.close() }
}
