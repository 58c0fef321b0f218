/// How a reader or a deliverer shares the undelivered results of a queue with others.
public enum DeliveryShare: Sendable {
  /// With other deliverers, each result with one of them at a time.
  case amongDeliverers
  /// With nobody, so that the order is kept.
  case ordered
  /// With nobody: a reader of what is unread.
  case reader

  /// What is said when others are there.
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
