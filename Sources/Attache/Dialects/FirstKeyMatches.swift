/// The first keys that a payload contains, found in one pass over its members and one over those of
/// its `aps`.
final class FirstKeyMatches {
  private let members: MemberLookup
  private let apsMembers: MemberLookup

  init(_ heads: FirstKeyTable) {
    members = MemberLookup(heads.names)
    apsMembers = MemberLookup(heads.apsNames)
  }

  func find(in payload: JSONElement) {
    members.find(in: payload)
    apsMembers.find(in: members[0])
  }

  /// Calls `body` with the number of each first key that the last payload contains.
  func forEach(_ body: (Int) -> Void) {
    for position in 0..<members.count { body(2 * members.place(position)) }
    for position in 0..<apsMembers.count { body(2 * apsMembers.place(position) + 1) }
  }

  /// The value of the first key with that number.
  subscript(number: Int) -> JSONElement? {
    number % 2 == 0 ? members[number / 2] : apsMembers[number / 2]
  }
}
