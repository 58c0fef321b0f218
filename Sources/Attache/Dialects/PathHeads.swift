/// Distinct beginnings of places, each with its number: members of the payload, and of its `aps`, which every payload has.
struct PathHeads {
  /// Where a path goes on from.
  struct Head: Hashable, Sendable {
    /// Even for a member of the payload, odd for one of its `aps`: twice the place in its list, and one.
    let number: Int
    /// How many parts of the path lead there.
    let depth: Int
  }

  /// The members of the payload, of which the first is `aps`.
  private(set) var names = ["aps"]
  private(set) var apsNames: [String] = []
  private var numbers = ["aps": 0]
  private var apsNumbers: [String: Int] = [:]

  /// How many numbers there are, those in use among them.
  var count: Int { 2 * max(names.count, apsNames.count) }

  /// What a path begins with, which is a new one for a new name; nil when that is no one member.
  mutating func head(of path: DialectPath) -> Head? {
    guard let first = path.first else { return nil }
    // An array has no names: a part that may be an index stands for a member of no object in particular.
    if first == "aps", path.parts.count > 1, case .child(let second) = path.parts[1], second.index == nil {
      let number = apsNumbers[second.text] ?? 2 * apsNames.count + 1
      if apsNumbers.updateValue(number, forKey: second.text) == nil { apsNames.append(second.text) }
      return Head(number: number, depth: 2)
    }
    let number = numbers[first] ?? 2 * names.count
    if numbers.updateValue(number, forKey: first) == nil { names.append(first) }
    return Head(number: number, depth: 1)
  }
}
