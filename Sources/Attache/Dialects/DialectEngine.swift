/// Reads a table of dialects against payloads; used by one thread at a time, as the parser that the payloads come from.
///
/// Every place of the table begins with a member of the payload, so one pass over its members finds them all; only what is there is
/// looked into.
final class DialectEngine {
  private let rows: [Dialect]
  private let members: MemberLookup
  /// The index in `members` of each first part.
  private let roots: [JSONPointer.Token: Int]
  /// For each row and source, the index in `members` of its first part; nil for the whole payload.
  private let sourceRoots: [[Int?]]

  init(_ table: DialectTable) {
    rows = table.rows
    var names: [String] = []
    var roots: [JSONPointer.Token: Int] = [:]
    for source in table.rows.flatMap(\.sources) {
      guard let first = source.path.tokens.first, roots[first] == nil else { continue }
      roots[first] = names.count
      names.append(first.text)
    }
    members = MemberLookup(names)
    self.roots = roots
    sourceRoots = table.rows.map { row in row.sources.map { source in source.path.tokens.first.flatMap { roots[$0] } } }
  }

  /// The media that a payload names, each URL once, and the name of the dialect that named the first.
  func references(in payload: JSONElement) -> (references: [MediaReference], dialect: String?) {
    members.find(in: payload)
    var finds = DistinctReferences()
    var dialect: String?
    var vendorFound = false
    for (row, roots) in zip(rows, sourceRoots) {
      if row.precedence == .lastResort, vendorFound { continue }
      let before = finds.references.count
      for (source, root) in zip(row.sources, roots) {
        guard let root, let value = members[root] else { continue }
        guard row.recogniser.allSatisfy({ holds($0, in: payload) }) else { break }
        read(source, from: value, in: payload, to: &finds)
      }
      guard finds.references.count > before else { continue }
      dialect = dialect ?? row.name
      if row.precedence == .vendor { vendorFound = true }
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
