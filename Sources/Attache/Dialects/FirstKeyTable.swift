/// Distinct beginnings of places, each with its number: members of the payload, and of its `aps`,
/// which every payload has.
struct FirstKeyTable {
  /// Where a path goes on from.
  struct Head: Hashable, Sendable {
    /// Even for a member of the payload, odd for one of its `aps`: twice the place in its list, and
    /// one.
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

  /// What a path begins with, when that is known; nil when it is not, or no one member.
  func head(of path: DialectPath) -> Head? {
    if let name = path.apsMember { return apsNumbers[name].map { Head(number: $0, depth: 2) } }
    return path.first.flatMap { numbers[$0] }.map { Head(number: $0, depth: 1) }
  }

  /// The number of what a path begins with, which is a new one for a new name; nil when that is no
  /// one member.
  mutating func number(of path: DialectPath) -> Int? {
    if let name = path.apsMember {
      if let number = apsNumbers[name] { return number }
      apsNumbers[name] = 2 * apsNames.count + 1
      apsNames.append(name)
      return apsNumbers[name]
    }
    guard let name = path.first else { return nil }
    if let number = numbers[name] { return number }
    numbers[name] = 2 * names.count
    names.append(name)
    return numbers[name]
  }
}

extension DialectPath {
  /// The member of `aps` that the place begins with. An array has no names: a part that may be an
  /// index is no member's.
  fileprivate var apsMember: String? {
    guard first == "aps", parts.count > 1, case .child(let second) = parts[1], second.index == nil else { return nil }
    return second.text
  }
}
