/// Applies a table of dialects to payloads. Only one thread at a time may use it, as with the
/// parser that the payloads come from.
///
/// One pass over a payload's members finds the first keys of all dialects. Only rows that these
/// keys concern are read, in the table's order.
package final class DialectEngine {
  /// A need of a row that a first key satisfies, as a bit in the row's set of needs.
  private struct Asker {
    let row: Int
    let need: UInt64
  }

  private let table: DialectTable
  private let rows: [DialectRow]
  private let pathHeads: FirstKeyTable
  private let heads: FirstKeyMatches
  /// For each first key, the needs that it satisfies.
  private let askers: [[Asker]]
  /// For each row, one bit per need.
  private let needs: [UInt64]
  private let documents = InnerDocument()
  private let shared = SharedFields()

  package init(_ table: DialectTable) {
    var heads = FirstKeyTable()
    self.table = table
    rows = table.rows.map { DialectRow($0, &heads) }
    pathHeads = heads
    self.heads = FirstKeyMatches(heads)
    var askers = Array(repeating: [Asker](), count: heads.count)
    for (index, row) in rows.enumerated() {
      for (bit, need) in row.needs.enumerated() {
        for head in need { askers[head].append(Asker(row: index, need: 1 << UInt64(bit))) }
      }
    }
    self.askers = askers
    // A row that names no media gets a need that nothing satisfies, so it is never read.
    needs = rows.map { !$0.namesMedia ? .max : (1 << UInt64($0.needs.count)) - 1 }
  }

  /// Returns whether the table has the dialect of that name.
  func has(_ name: String) -> Bool { rows.contains { $0.name == name } }

  /// Whether memory for the parser could be allocated.
  var hasMemory: Bool { documents.hasMemory }

  /// Returns the media that a payload names: each URL once, at most ``MediaReferenceList/maximum``.
  /// Also returns how many more the payload names, and the name of the dialect that named the
  /// first.
  ///
  /// - Parameter tracing: whether and where to record the places of the URLs.
  package func references(in payload: JSONElement, tracing: MediaTracing = .none) -> (
    references: [MediaReference], omitted: Int, dialect: String?, sites: [MediaSite]
  ) {
    documents.forget()
    shared.forget()
    let missing = missingNeeds(of: payload)
    var found = MediaReferenceList()
    var dialect: String?
    var vendorFound = false
    for index in missing.indices where missing[index] == 0 {
      let row = rows[index]
      if row.precedence == .lastResort, vendorFound { continue }
      let content = row.content(pathHeads)
      guard content.when.hold(in: payload, heads) else { continue }
      let (start, attachments) = (found.count, found.attachmentCount)
      read(content, in: payload, tracing, table.isStrict ? row.name : nil, into: &found)
      guard found.count > start else { continue }
      dialect = dialect ?? row.name
      if row.precedence == .vendor { vendorFound = vendorFound || found.attachmentCount > attachments }
    }
    let (references, omitted) = found.bounded
    guard found.attachmentCount == 0, let misfit = misfits(in: payload, of: missing, maximum: 1).first else {
      return (references, omitted, dialect ?? references.first?.misfit?.dialect, found.sites)
    }
    return (references + [MediaReference(misfit)], omitted, dialect ?? misfit.dialect, found.sites)
  }

  /// Returns the values of another type than vendors' rows read, whatever else the payload names. A
  /// value is none if another source reads it, or a text in it.
  package func misfits(in payload: JSONElement) -> [MediaMisfit] {
    let missing = missingNeeds(of: payload)
    var places: Set<JSONPointer> = []
    var misfits = misfits(in: payload, of: missing, maximum: Self.maximumMisfits).filter { places.insert($0.place).inserted }
    for index in missing.indices where missing[index] == 0 && !misfits.isEmpty {
      let dialect = rows[index].dialect
      guard dialect.when.hold(in: payload) else { continue }
      for source in dialect.media.joined() {
        source.forEachText(in: payload) { place in misfits.removeAll { place.starts(with: $0.place.tokens) } }
      }
    }
    return misfits
  }

  /// The maximum number of misfits, which is more than the findings that are shown.
  private static let maximumMisfits = 100

  /// Returns, for each row, its needs that the payload does not satisfy.
  private func missingNeeds(of payload: JSONElement) -> [UInt64] {
    heads.find(in: payload)
    var missing = needs
    heads.forEach { head in
      for asker in askers[head] { missing[asker.row] &= ~asker.need }
    }
    return missing
  }

  /// - Parameter missing: for each row, its needs that the payload does not satisfy.
  private func misfits(in payload: JSONElement, of missing: [UInt64], maximum: Int) -> [MediaMisfit] {
    var misfits: [MediaMisfit] = []
    for index in missing.indices where missing[index] == 0 && rows[index].precedence == .vendor {
      let content = rows[index].content(pathHeads)
      guard content.whenOfAnyKind.hold(in: payload, heads) else { continue }
      for (place, when) in content.places {
        if let head = place.head, heads[head.number] == nil { continue }
        guard when.hold(in: payload, heads), let misfit = MediaMisfit(place.source, of: rows[index].name, in: payload) else { continue }
        misfits.append(misfit)
        if misfits.count == maximum { return misfits }
      }
    }
    return misfits
  }

  /// Returns the text changes of the first dialect whose helper would make any.
  package func text(in payload: JSONElement) -> DialectText? {
    documents.forget()
    shared.forget()
    for row in table.rows.lazy.map(\.whole) {
      guard let texts = row.texts, row.when.hold(in: payload) else { continue }
      if let text = texts.read(payload, dialect: row.name, documents, shared) { return text }
    }
    return nil
  }

  /// Returns the first dialect that recognizes the payload as one that only the app can decrypt,
  /// and its sentence about such payloads.
  package func encrypted(in payload: JSONElement) -> (dialect: String, sentence: String)? {
    for row in table.rows.lazy.map(\.whole) {
      if let sentence = row.encrypted, row.when.hold(in: payload) { return (row.name, sentence) }
    }
    return nil
  }

  /// Reads the media of one row. Of each list of alternatives, only the first that yields media is
  /// used.
  private func read(
    _ row: DialectRow.Content, in payload: JSONElement, _ tracing: MediaTracing, _ strictDialect: String?,
    into references: inout MediaReferenceList
  ) {
    var listFound = -1
    for place in row.media where place.list != listFound {
      if let head = place.head, heads[head.number] == nil { continue }
      let start = references.count
      read(place, in: payload, tracing, strictDialect, into: &references)
      if references.count > start { listFound = place.list }
    }
  }

  private func read(
    _ place: MediaPlace, in payload: JSONElement, _ tracing: MediaTracing, _ strictDialect: String?,
    into references: inout MediaReferenceList
  ) {
    // An ignored reference is named by its place.
    let tracing = strictDialect != nil && tracing == .none ? .paths : tracing
    var reader = MediaSourceReader(
      place: place, payload: payload, shared: shared, tracing: tracing, strictDialect: strictDialect, start: references.offered)
    if let path = place.path, let head = place.head {
      // Most paths that begin with `aps` match nothing beyond it.
      guard let value = heads[head.number]?.value(atOne: path, from: head.depth), place.source.when.hold(in: payload) else { return }
      reader.read(value, item: path.parts.count == 1 ? payload : payload.parent(atOne: path), into: &references)
    } else if let json = place.source.json {
      guard let document = documents.document(at: json, in: payload), place.source.when.hold(in: document) else { return }
      let steps = tracing == .none ? nil : json.first(from: payload)
      // A JSON pointer can address the string, but nothing inside it.
      if documents.isInString { reader.string = steps }
      reader.read(from: document, steps: documents.isInString ? [] : steps ?? [], into: &references)
    } else if place.source.when.hold(in: payload) {
      reader.read(from: payload, into: &references)
    }
  }
}

extension MediaReference {
  /// A reference to media that cannot be read, because a value has another type.
  fileprivate init(_ misfit: MediaMisfit) {
    self.init(url: misfit.text)
    self.misfit = misfit
    path = UntrustedText(misfit.place.description)
  }
}

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

/// Parses JSON inside strings of a payload. Text that is not JSON counts as missing.
final class InnerDocument {
  private let parser = JSONParser()
  /// The path of the document that the parser holds.
  private var path: DialectPath?
  private var document: JSONElement?
  /// Whether the document that was requested last is inside a string.
  private(set) var isInString = false

  /// Whether memory for the parser could be allocated.
  var hasMemory: Bool { parser.hasMemory }

  /// Discards the document, before the next payload.
  func forget() {
    path = nil
  }

  /// Returns the object or array that a string holds. An object or array that is not in a string is
  /// returned unchanged. The result is valid until the next document is requested.
  func document(at path: DialectPath, in payload: JSONElement) -> JSONElement? {
    if self.path == path { return document }
    self.path = path
    isInString = payload.value(at: path)?.isString ?? false
    document = payload.value(at: path).flatMap { value in
      value.isObject || value.isArray ? value : value.text.flatMap(parse)
    }
    return document
  }

  private func parse(_ text: UntrustedText) -> JSONElement? {
    parser.parse(copying: text.utf8).flatMap { $0.isObject || $0.isArray ? $0 : nil }
  }
}
