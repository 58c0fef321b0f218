/// The role of a queue for a deliverer.
public protocol ResultDelivery: HoldListing {
  /// Takes a share in the undelivered results, until ``close()``. A reader or deliverer calls this
  /// once, before it claims or reads anything.
  ///
  /// - Throws: ``QueueError/unavailable(_:)`` when others hold a share that conflicts with this
  ///   one.
  func shareDelivery(_ share: DeliveryShare) throws(QueueError)

  /// Stores the disposition of results that are leased to this deliverer, and leases more results to it.
  /// These are results that are ready and due, in the order of priority (highest first) and then
  /// decision, and results whose lease ended or whose holder has gone. Repeating a call whose
  /// outcome is unknown stores no disposition twice.
  ///
  /// - Parameter request: what to lease; nil leases nothing.
  func settle(_ settled: [SettledDelivery], claiming request: DeliveryRequest?) throws(QueueError) -> DeliveryClaim

  /// Extends leases of deliveries to a span from now.
  ///
  /// - Returns: the leases that this deliverer no longer holds.
  func renewDeliveries(_ leases: [LeaseToken], for span: Duration) throws(QueueError) -> Set<LeaseToken>
}
