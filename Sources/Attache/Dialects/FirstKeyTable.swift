/// The distinct first keys of paths, each with a number. A first key is a member of the payload or,
/// because every payload has an `aps`, a member of `aps`.
struct FirstKeyTable {
  /// The first key of a path.
  struct Head: Hashable, Sendable {
    /// An even number for a member of the payload, an odd one for a member of `aps`: twice the
    /// index in its list, plus one if odd.
    let number: Int
    /// The number of parts of the path that the key covers.
    let depth: Int
  }

  /// The members of the payload. The first is `aps`.
  private(set) var names = ["aps"]
  private(set) var apsNames: [String] = []
  private var numbers = ["aps": 0]
  private var apsNumbers: [String: Int] = [:]

  /// An upper bound for the numbers; not every number below it is in use.
  var count: Int { 2 * max(names.count, apsNames.count) }

  /// Returns the first key of a path; nil if it is not in the table or not a single member.
  func head(of path: DialectPath) -> Head? {
    if let name = path.apsMember { return apsNumbers[name].map { Head(number: $0, depth: 2) } }
    return path.first.flatMap { numbers[$0] }.map { Head(number: $0, depth: 1) }
  }

  /// Returns the number of a path's first key, and assigns a new number to a new name; nil if the
  /// first key is not a single member.
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
  /// The member of `aps` that the path begins with. A part that may be an array index does not
  /// count as a member, because an array has no names.
  fileprivate var apsMember: String? {
    guard first == "aps", parts.count > 1, case .child(let second) = parts[1], second.index == nil else { return nil }
    return second.text
  }
}
