/// How a reader or a deliverer shares the undelivered results of a queue.
public enum DeliveryShare: Sendable {
  /// With other deliverers. One of them at a time has each result.
  case amongDeliverers
  /// Exclusively, to keep the order.
  case ordered
  /// Exclusively, to read unread results.
  case reader

  /// The error message when another process holds a share that conflicts with this one.
  package var conflict: String {
    switch self {
    case .amongDeliverers:
      "`results --unread` or `deliver --ordered` is using this queue exclusively; end it first"
    case .ordered: "another `deliver`, or `results --unread`, is using this queue; end it, or deliver without --ordered"
    case .reader:
      "another `results --unread`, or `deliver`, is using this queue; end it, or use `deliver`, of which several may share a queue"
    }
  }

  var isExclusive: Bool { self != .amongDeliverers }
}
