/// The role of a queue for a worker: it leases payloads and settles them.
public protocol PayloadLeasing: QueueHandle {
  /// Leases payloads to this worker. These are payloads that are ready and due, in the order of
  /// priority (highest first) and then enqueuing, and payloads whose lease ended or whose holder
  /// has gone. A death is counted only for a holder that is known to have died. The call also
  /// extends this worker's own expired leases, because a claim shows that the worker lives.
  func claim(_ request: ClaimRequest) throws(QueueError) -> Claim

  /// Extends leases to a span from now.
  ///
  /// - Returns: the leases that this worker no longer holds.
  func renew(_ leases: [LeaseToken], for span: Duration) throws(QueueError) -> Set<LeaseToken>

  /// Stores results. Each result and the state of its payload change together. Repeating a call
  /// whose outcome is unknown stores nothing twice.
  ///
  /// - Returns: the leases that the worker no longer held. Their results were refused.
  func finish(_ results: [FinishedPayload]) throws(QueueError) -> Set<LeaseToken>

  /// Gives leased payloads back. They are ready again, after their delay if they have one.
  ///
  /// - Returns: the leases that the worker no longer held.
  func giveBack(_ payloads: [ReturnedPayload]) throws(QueueError) -> Set<LeaseToken>
}
