/// Reads a table of dialects against payloads; used by one thread at a time, as the parser that the payloads come from.
///
/// One pass over a payload's members finds those that any dialect begins with; only the rows of these are asked, in the table's order.
final class DialectEngine {
  /// A row as it is asked.
  private final class Row {
    let name: String
    let precedence: Dialect.Precedence
    let when: [Condition]
    /// The members one of which each condition needs, and those one of which the media need, as their places in `members`.
    let needed: [[Int]]
    /// The row's media, as it has them.
    let media: [[MediaPlace]]

    init(_ dialect: Dialect, _ names: inout NameList) {
      name = dialect.name
      precedence = dialect.precedence
      when = dialect.when.map { $0.bound(to: &names) }
      let sources = dialect.media.joined().map(\.member)
      let needed = dialect.when.compactMap(\.members) + (sources.contains(nil) ? [] : [sources.compactMap { $0 }])
      self.needed = needed.map { $0.map { names.place($0) } }
      media = dialect.media.map { $0.map { source in MediaPlace(source, &names) } }
    }
  }

  private let table: DialectTable
  private let rows: [Row]
  private let members: MemberIndex
  /// For each member the rows that are asked when it is there, and last those that are always asked.
  private let askers: [RowSet]
  private let documents = InnerDocument()

  init(_ table: DialectTable) {
    var names = NameList()
    self.table = table
    rows = table.rows.map { Row($0, &names) }
    let gates = table.rows.map { row in row.membersNeeded?.map { names.place($0) } }
    var askers = Array(repeating: RowSet(count: table.rows.count), count: names.names.count + 1)
    for (row, places) in gates.enumerated() where !table.rows[row].media.isEmpty {
      for place in places ?? [names.names.count] { askers[place].insert(row) }
    }
    self.askers = askers
    members = MemberIndex(names.names)
  }

  /// The media that a payload names, each URL once, and the name of the dialect that named the first.
  ///
  /// - Parameter isLocated: whether each reference says where its URL stands.
  func references(in payload: JSONElement, located isLocated: Bool = false) -> (references: [MediaReference], dialect: String?) {
    documents.forget()
    members.find(in: payload)
    var asked = askers[askers.count - 1]
    for position in 0..<members.count { asked.formUnion(askers[members.place(position)]) }
    var finds = DistinctReferences()
    var dialect: String?
    var vendorFound = false
    asked.forEach { index in
      let row = rows[index]
      if row.precedence == .lastResort, vendorFound { return }
      // Whether all that a row needs begins somewhere is told without looking into anything.
      guard row.needed.allSatisfy({ places in places.contains { members[$0] != nil } }), row.when.hold(in: payload, members) else { return }
      let found = references(of: row, in: payload, isLocated)
      guard !found.isEmpty else { return }
      for reference in found { finds.add(reference) }
      dialect = dialect ?? row.name
      if row.precedence == .vendor { vendorFound = vendorFound || found.contains { $0.role == .attachment } }
    }
    return (finds.references, dialect)
  }

  /// What the helper of the first dialect that says anything would make of the text.
  func text(in payload: JSONElement) -> DialectText? {
    documents.forget()
    for row in table.rows {
      guard let texts = row.texts ?? row.builtInTexts, row.when.hold(in: payload) else { continue }
      if let text = texts.read(payload, dialect: row.name, documents) { return text }
    }
    return nil
  }

  /// The first dialect that knows the payload as one that nobody but the app can read, and the sentence that says so.
  func encrypted(in payload: JSONElement) -> (dialect: String, sentence: String)? {
    for row in table.rows {
      if let sentence = row.encrypted, row.when.hold(in: payload) { return (row.name, sentence) }
    }
    return nil
  }

  /// What one row names; of each list of alternatives the first that names any.
  private func references(of row: Row, in payload: JSONElement, _ isLocated: Bool) -> [MediaReference] {
    var references: [MediaReference] = []
    for alternatives in row.media {
      for place in alternatives {
        let found = read(place, in: payload, isLocated)
        references += found
        if !found.isEmpty { break }
      }
    }
    return references
  }

  private func read(_ place: MediaPlace, in payload: JSONElement, _ isLocated: Bool) -> [MediaReference] {
    let reader = MediaSourceReader(place: place, payload: payload, isLocated: isLocated)
    var found: [MediaReference]
    if let path = place.path, let member = place.member {
      // Most of what begins with `aps` ends there.
      guard let first = members[member], let value = first.value(atOne: path, from: 1), place.source.when.hold(in: payload) else {
        return []
      }
      found = reader.references(at: value, item: path.parts.count == 1 ? payload : first.parent(atOne: path, from: 1))
    } else if let member = place.member, members[member] == nil {
      return []
    } else if let json = place.source.json {
      guard let document = documents.document(at: json, in: payload), place.source.when.hold(in: document) else { return [] }
      found = reader.references(in: document, pointer: json.description)
      if isLocated, documents.isInString {
        // A pointer leads to the string, and no further.
        for index in found.indices { found[index].path = json.description }
      }
    } else {
      guard place.source.when.hold(in: payload) else { return [] }
      found = reader.references(in: payload, pointer: "")
    }
    if table.isStrict { found = found.compactMap(\.strict) }
    return found
  }
}

extension Dialect {
  /// The members one of which a payload must have for this to name anything; nil when that cannot be said.
  fileprivate var membersNeeded: [String]? {
    let needed = when.compactMap(\.members)
    // `aps` is in every payload: it tells nothing.
    if let members = needed.first(where: { !$0.contains("aps") }) ?? needed.first { return members }
    let members = media.joined().map(\.member)
    return members.contains(nil) ? nil : members.compactMap { $0 }
  }
}

extension MediaReference {
  /// The same as far as the vendor's own helper would follow it; nil when it would not.
  fileprivate var strict: MediaReference? {
    if needs.contains(.typeHint), typeHint == nil { return nil }
    guard needs.contains(.https) else { return self }
    var reference = self
    reference.fallbacks.removeAll { !$0.isHTTPS }
    return url.isHTTPS ? reference : nil
  }
}

extension String {
  fileprivate var isHTTPS: Bool {
    utf8.prefix(8).elementsEqual("https://".utf8) { ($0 | 0x20) == ($1 | 0x20) }
  }
}
