/// How a reader or a deliverer shares the undelivered results of a queue.
public enum DeliveryShare: Sendable {
  /// With other deliverers. One of them at a time has each result.
  case amongDeliverers
  /// Exclusively, to keep the order.
  case ordered
  /// Exclusively, to read unread results.
  case reader

  /// The error message when another process holds a share that conflicts with this one.
  var conflict: String {
    switch self {
    case .amongDeliverers:
      "`results --unread` or `deliver --ordered` has this queue, and shares it with nobody; end it first"
    case .ordered: "another `deliver`, or `results --unread`, has this queue; end it, or deliver without --ordered"
    case .reader:
      "another `results --unread`, or `deliver`, has this queue; end it, or use `deliver`, which several may share a queue by"
    }
  }

  var isExclusive: Bool { self != .amongDeliverers }
}
