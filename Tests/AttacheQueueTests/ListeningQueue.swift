import Attache
import AttacheQueue
import Synchronization

/// A queue that keeps what it is given, a batch beside the other, and has room for so many payloads.
final class ListeningQueue: PayloadQueue {
  private let state = Mutex<(batches: [[NewPayload]], keys: Set<[UInt8]>)>(([], []))
  private let room: Int

  init(room: Int = .max) {
    self.room = room
  }

  var batches: [[NewPayload]] { state.withLock(\.batches) }
  var payloads: [NewPayload] { batches.flatMap(\.self) }
  /// The lines as text.
  var lines: [String] { payloads.map { String(decoding: $0.line, as: UTF8.self) } }

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

  func claim(_ request: ClaimRequest) throws(QueueError) -> Claim { Claim(leases: [], hasSuspects: false, next: nil) }
  func renew(_ leases: [LeaseToken], for span: Duration) throws(QueueError) -> Set<LeaseToken> { [] }
  func finish(_ results: [FinishedPayload]) throws(QueueError) -> Set<LeaseToken> { [] }
  func giveBack(_ payloads: [ReturnedPayload]) throws(QueueError) -> Set<LeaseToken> { [] }
  func results(_ request: ResultRequest) throws(QueueError) -> ResultPage { ResultPage(entries: [], last: 0, isAtEnd: true) }
  func markRead(_ ids: [Int64]) throws(QueueError) -> [String] { [] }
  func counts() throws(QueueError) -> QueueCounts { QueueCounts() }
  func retry(_ reason: Reason?) throws(QueueError) -> Int { 0 }
  func purge(olderThan age: Duration) throws(QueueError) -> (payloads: Int, released: [String]) { (0, []) }
  func sync() throws(QueueError) {}
  func close() {}
}
