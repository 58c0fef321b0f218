/// Reads a table of dialects against payloads; used by one thread at a time, as the parser that the payloads come from.
///
/// Every place of the table begins with a member of the payload, so one pass over its members finds them all; only what is there is
/// looked into.
final class DialectEngine {
  /// A source of the table and the member of the payload that its place begins with, as an index in `members`.
  private struct Place {
    let member: Int
    let row: Int
    let source: Int
  }

  private let rows: [Dialect]
  private let members: MemberLookup
  /// Every source in the order in which it is looked at.
  private let places: [Place]

  init(_ table: DialectTable) {
    var names: [String] = []
    var indices: [String: Int] = [:]
    var places: [Place] = []
    for (row, dialect) in table.rows.enumerated() {
      for (source, media) in dialect.sources.enumerated() {
        guard let name = media.path.tokens.first?.text else { continue }
        if indices[name] == nil {
          indices[name] = names.count
          names.append(name)
        }
        places.append(Place(member: indices[name] ?? 0, row: row, source: source))
      }
    }
    rows = table.rows
    members = MemberLookup(names)
    self.places = places
  }

  /// The media that a payload names, each URL once, and the name of the dialect that named the first.
  func references(in payload: JSONElement) -> (references: [MediaReference], dialect: String?) {
    members.find(in: payload)
    var finds = DistinctReferences()
    var dialect: String?
    var vendorFound = false
    for place in places {
      guard let member = members[place.member] else { continue }
      let row = rows[place.row]
      if row.precedence == .lastResort, vendorFound { continue }
      guard row.recogniser.allSatisfy({ holds($0, in: payload) }) else { continue }
      let before = finds.references.count
      read(row.sources[place.source], from: member, in: payload, to: &finds)
      guard finds.references.count > before else { continue }
      dialect = dialect ?? row.name
      vendorFound = vendorFound || row.precedence == .vendor
    }
    return (finds.references, dialect)
  }

  private func holds(_ condition: Dialect.Condition, in payload: JSONElement) -> Bool {
    switch condition {
    case .object(let path): payload.value(at: path.tokens)?.isObject ?? false
    case .text(let path, let text): payload.value(at: path.tokens)?.text == text
    }
  }

  /// Adds what stands at a source's place; `value` is the payload's member that the place begins with.
  private func read(_ source: MediaSource, from value: JSONElement, in payload: JSONElement, to finds: inout DistinctReferences) {
    guard let place = value.value(at: source.path.tokens.dropFirst()) else { return }
    let reader = MediaSourceReader(source: source, payload: payload)
    guard place.isArray, case .any = source.form else {
      reader.reference(at: place).map { finds.add($0) }
      return
    }
    place.forEachElement { element in
      reader.reference(at: element).map { finds.add($0) }
    }
  }
}

/// References in the order in which they were found, each URL once.
private struct DistinctReferences {
  private(set) var references: [MediaReference] = []
  private var urls: Set<String> = []

  /// Keeps a reference whose URL is new; of two with the same URL the first stays.
  mutating func add(_ reference: MediaReference) {
    if references.isEmpty {
      references.append(reference)
      return
    }
    if urls.isEmpty { urls.insert(references[0].url) }
    if urls.insert(reference.url).inserted { references.append(reference) }
  }
}
