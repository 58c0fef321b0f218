/// A condition of a row as an engine asks it: most are answered by the heads that a payload has,
/// and nothing is looked into.
final class RowCondition {
  private let condition: Condition
  private let head: Int?
  private let isAbsence: Bool
  /// The conditions one of which must hold; nil when this is no such group.
  private let group: [RowCondition]?

  /// - Parameter condition: bound to the engine's heads.
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
  /// Whether all of them hold.
  func hold(in payload: JSONElement, _ heads: FirstKeyMatches) -> Bool {
    for condition in self where !condition.holds(in: payload, heads) { return false }
    return true
  }
}
