public import Attache

/// A queue in one file.
public final class FolderQueue: PayloadQueue {
  public init(path: String, creates: Bool, sync: SyncChoice, clock: any QueueClock) throws(QueueError) { throw .unavailable("none yet") }
  public func enqueue(_ payloads: [NewPayload]) throws(QueueError) -> Int { 0 }
  public func claim(_ request: ClaimRequest) throws(QueueError) -> Claim { Claim(leases: [], hasSuspects: false, next: nil) }
  public func renew(_ leases: [LeaseToken], for span: Duration) throws(QueueError) -> Set<LeaseToken> { [] }
  public func finish(_ results: [FinishedPayload]) throws(QueueError) -> Set<LeaseToken> { [] }
  public func giveBack(_ payloads: [ReturnedPayload]) throws(QueueError) -> Set<LeaseToken> { [] }
  public func results(_ request: ResultRequest) throws(QueueError) -> ResultPage { ResultPage(entries: [], last: 0, isAtEnd: true) }
  public func markRead(_ ids: [Int64]) throws(QueueError) -> [String] { [] }
  public func counts() throws(QueueError) -> QueueCounts { QueueCounts() }
  public func retry(_ reason: Reason?) throws(QueueError) -> Int { 0 }
  public func purge(olderThan age: Duration) throws(QueueError) -> (payloads: Int, released: [String]) { (0, []) }
  public func sync() throws(QueueError) {}
  public func close() {}
}
