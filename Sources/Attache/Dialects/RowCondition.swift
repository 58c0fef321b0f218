/// A condition of a row, prepared for an engine. The first keys that a payload contains decide most
/// conditions without a look into the values.
final class RowCondition {
  private let condition: Condition
  private let head: Int?
  private let isAbsence: Bool
  /// The conditions of which at least one must hold; nil if this is not an `any` group.
  private let group: [RowCondition]?

  /// - Parameter condition: a condition that is bound to the engine's first keys.
  init(_ condition: Condition) {
    self.condition = condition
    head =
      switch condition {
      case .present(let path), .kind(let path, _), .equals(let path, _), .starts(let path, _), .absent(let path): path.head?.number
      case .any, .none: nil
      }
    isAbsence = if case .absent = condition { true } else { false }
    group = if case .any(let conditions) = condition { conditions.map(RowCondition.init) } else { nil }
  }

  func holds(in payload: JSONElement, _ heads: FirstKeyMatches) -> Bool {
    if let head, heads[head] == nil { return isAbsence }
    guard let group else { return condition.holds(in: payload, heads) }
    for condition in group where condition.holds(in: payload, heads) { return true }
    return false
  }
}

extension [RowCondition] {
  /// Returns whether all conditions hold.
  func hold(in payload: JSONElement, _ heads: FirstKeyMatches) -> Bool {
    for condition in self where !condition.holds(in: payload, heads) { return false }
    return true
  }
}
