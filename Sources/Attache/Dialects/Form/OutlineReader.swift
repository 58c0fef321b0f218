/// Reads outlines of rows of the built-in table, which follow the form: what is not of it is passed
/// over.
final class OutlineReader {
  private let row = MemberLookup(["name", "aliases", "precedence", "when", "media"])
  private let condition = MemberLookup(["at", "absent", "any", "none"])
  private let source = MemberLookup(["json", "url", "build"])

  /// A dialect of which only what a table needs is read.
  func dialect(_ form: JSONElement) -> Dialect {
    row.find(in: form)
    var dialect = Dialect()
    dialect.name = row[0]?.text?.string ?? ""
    forEach(row[1]) { alias in alias.text.map { dialect.aliases.append($0.string) } }
    dialect.precedence = row[2]?.text.flatMap { Dialect.Precedence(rawValue: $0.string) } ?? .vendor
    var outline = DialectOutline()
    forEach(row[3]) { condition in places(condition).map { outline.needs.append($0) } }
    var sources: [DialectPath?] = []
    forEach(row[4]) { alternatives in forEach(alternatives) { sources.append(place(of: $0)) } }
    outline.namesMedia = !sources.isEmpty
    if !sources.contains(where: { $0 == nil }) { outline.needs.append(sources.compactMap { $0 }) }
    dialect.outline = outline
    return dialect
  }

  /// As ``Condition/places``.
  private func places(_ form: JSONElement) -> [DialectPath]? {
    condition.find(in: form)
    guard condition[1] == nil, condition[3] == nil else { return nil }
    guard let group = condition[2] else { return condition[0]?.text.flatMap { try? DialectPath($0.string) }.map { [$0] } }
    var all: [DialectPath]? = []
    forEach(group) { element in
      let further = places(element)
      all = further.flatMap { further in all.map { $0 + further } }
    }
    return all
  }

  /// As ``MediaSource/firstPlace``.
  private func place(of form: JSONElement) -> DialectPath? {
    source.find(in: form)
    if let path = source[0] ?? source[1] { return path.text.flatMap { try? DialectPath($0.string) } }
    guard let build = source[2]?.text else { return nil }
    let piece = build.utf8.drop { $0 != UInt8(ascii: "{") }.dropFirst().prefix { $0 != UInt8(ascii: "}") }
    return String(piece).flatMap { try? DialectPath($0) }
  }

  /// Calls `body` with each element of an array, or with a value that stands by itself.
  private func forEach(_ form: JSONElement?, _ body: (JSONElement) -> Void) {
    guard let form else { return }
    if form.isArray { form.forEachElement(body) } else { body(form) }
  }
}
