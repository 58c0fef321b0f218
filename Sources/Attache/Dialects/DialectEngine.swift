/// Reads a table of dialects against payloads; used by one thread at a time, as the parser that the
/// payloads come from.
///
/// One pass over a payload's members finds those that any dialect begins with; only the rows of
/// these are asked, in the table's order.
final class DialectEngine {
  /// A need of a row that a head meets, as a bit of those that the row has.
  private struct Asker {
    let row: Int
    let need: UInt64
  }

  private let table: DialectTable
  private let rows: [DialectRow]
  private let pathHeads: FirstKeyTable
  private let heads: FirstKeyMatches
  /// For each head what it meets.
  private let askers: [[Asker]]
  /// For each row a bit for each of its needs.
  private let needs: [UInt64]
  private let documents = InnerDocument()
  private let shared = SharedFields()

  init(_ table: DialectTable) {
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
    // What names no media is never asked: it has a need that nothing meets.
    needs = rows.map { !$0.namesMedia ? .max : (1 << UInt64($0.needs.count)) - 1 }
  }

  /// Whether there was memory for the parser.
  var hasMemory: Bool { documents.hasMemory }

  /// The media that a payload names, each URL once and at most ``MediaReferenceList/maximum``, how
  /// many more it names, and the name of the dialect that named the first.
  ///
  /// - Parameter isLocated: whether each reference says where its URL stands.
  func references(in payload: JSONElement, located isLocated: Bool = false) -> (
    references: [MediaReference], omitted: Int, dialect: String?
  ) {
    documents.forget()
    shared.forget()
    heads.find(in: payload)
    var missing = needs
    heads.forEach { head in
      for asker in askers[head] { missing[asker.row] &= ~asker.need }
    }
    var found = MediaReferenceList()
    var dialect: String?
    var vendorFound = false
    for index in missing.indices where missing[index] == 0 {
      let row = rows[index]
      if row.precedence == .lastResort, vendorFound { continue }
      let content = row.content(pathHeads)
      guard content.when.hold(in: payload, heads) else { continue }
      let (start, attachments) = (found.count, found.attachmentCount)
      read(content, in: payload, isLocated, into: &found)
      guard found.count > start else { continue }
      dialect = dialect ?? row.name
      if row.precedence == .vendor { vendorFound = vendorFound || found.attachmentCount > attachments }
    }
    let (references, omitted) = found.bounded
    return (references, omitted, dialect)
  }

  /// What the helper of the first dialect that says anything would make of the text.
  func text(in payload: JSONElement) -> DialectText? {
    documents.forget()
    shared.forget()
    for row in table.rows.lazy.map(\.whole) {
      guard let texts = row.texts, row.when.hold(in: payload) else { continue }
      if let text = texts.read(payload, dialect: row.name, documents, shared) { return text }
    }
    return nil
  }

  /// The first dialect that knows the payload as one that nobody but the app can read, and the
  /// sentence that says so.
  func encrypted(in payload: JSONElement) -> (dialect: String, sentence: String)? {
    for row in table.rows.lazy.map(\.whole) {
      if let sentence = row.encrypted, row.when.hold(in: payload) { return (row.name, sentence) }
    }
    return nil
  }

  /// What one row names; of each list of alternatives the first that names any.
  private func read(_ row: DialectRow.Content, in payload: JSONElement, _ isLocated: Bool, into references: inout MediaReferenceList) {
    var listFound = -1
    for place in row.media where place.list != listFound {
      if let head = place.head, heads[head.number] == nil { continue }
      let start = references.count
      read(place, in: payload, isLocated, into: &references)
      if references.count > start { listFound = place.list }
    }
  }

  private func read(_ place: MediaPlace, in payload: JSONElement, _ isLocated: Bool, into references: inout MediaReferenceList) {
    var reader = MediaSourceReader(
      place: place, payload: payload, shared: shared, isLocated: isLocated, isStrict: table.isStrict, start: references.offered)
    if let path = place.path, let head = place.head {
      // Most of what begins with `aps` ends there.
      guard let value = heads[head.number]?.value(atOne: path, from: head.depth), place.source.when.hold(in: payload) else { return }
      reader.read(value, item: path.parts.count == 1 ? payload : payload.parent(atOne: path), into: &references)
    } else if let json = place.source.json {
      guard let document = documents.document(at: json, in: payload), place.source.when.hold(in: document) else { return }
      // A pointer leads to the string, and no further.
      if isLocated, documents.isInString { reader.string = UntrustedText(json.description) }
      reader.read(from: document, pointer: UntrustedText(json.description), into: &references)
    } else if place.source.when.hold(in: payload) {
      reader.read(from: payload, pointer: "", into: &references)
    }
  }
}
