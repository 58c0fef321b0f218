extension JSONText {
  /// Returns the edits that remove each member of that name whose attachments have `file:` URLs.
  ///
  /// - Parameter depth: the number of object levels to search below the object, except in `aps`.
  package func fileMembers(_ name: String, in object: Range<Int>, depth: Int) -> [LineEdit] {
    let members = members(of: object)
    var removed: Set<Int> = []
    var edits: [LineEdit] = []
    for (index, member) in members.enumerated() {
      if isNamed(member, name), hasFileURLs(member.value) {
        removed.insert(index)
      } else if depth > 0, isObject(member.value), !isNamed(member, "aps") {
        edits += fileMembers(name, in: member.value, depth: depth - 1)
      }
    }
    return edits + removals(of: removed, in: members)
  }

  private func hasFileURLs(_ member: Range<Int>) -> Bool {
    guard let attachments = value("attachments", of: member) else { return false }
    return elements(of: attachments).contains { attachment in
      guard let url = value("url", of: attachment).flatMap(string) else { return false }
      return url.prefix(5).map(\.lowercasedASCII) == Array("file:".utf8)
    }
  }
}
