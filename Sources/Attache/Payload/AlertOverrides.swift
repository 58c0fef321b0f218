/// Replaces texts of an alert by editing the bytes of the JSON around it. All other bytes stay the
/// same.
struct AlertOverrides {
  /// The fields that can be replaced.
  static let names = ["title", "subtitle", "body"]
  /// The other members that give an alert text.
  private static let keyNames = ["title-loc-key", "subtitle-loc-key", "loc-key"]

  /// A text of the alert, with the JSON source of its string.
  private struct Field {
    var name: String
    var source: [UInt8]
    var isText: Bool { source.count > 2 }
  }

  private let fields: [Field]

  /// - Parameter overrides: the replacements. If two are for the same field, the first is used.
  init(_ overrides: [DialectText.Override]) {
    fields = Self.names.compactMap { name in
      overrides.first { $0.name == name }.map { override in
        var json = JSONWriter()
        json.string(override.value)
        return Field(name: name, source: json.bytes)
      }
    }
  }

  /// Returns the edits of a text. If the replacements together would leave the alert without any
  /// text, the empty ones are skipped.
  func edits(at place: AlertPlace, in text: JSONText) -> [LineEdit] {
    guard !fields.isEmpty else { return [] }
    let alert = place.name.map { text.value($0, of: place.holder) } ?? place.holder
    let written = alert.map { text.members(of: $0) } ?? []
    let fields = hold(written, alert, place, in: text) ? self.fields : self.fields.filter(\.isText)
    guard !fields.isEmpty else { return [] }
    guard let alert, text.isObject(alert) else { return [replacement(of: alert, fields, place, in: text)] }
    var edits: [LineEdit] = []
    var added: [Field] = []
    for field in fields {
      guard let member = written.last(where: { text.isNamed($0, field.name) }) else {
        added.append(field)
        continue
      }
      if !text.source(member.value).elementsEqual(field.source) { edits.append(LineEdit(member.value, field.source)) }
    }
    let given = place.given.filter { given in
      !fields.contains { $0.name == given.name } && !written.contains { text.isNamed($0, given.name) }
    }
    if !added.isEmpty { added += given.map { Field(name: $0.name, source: $0.source) } }
    if !added.isEmpty { edits.append(insertion(Self.members(added), into: alert, isEmpty: written.isEmpty)) }
    return edits
  }

  /// Whether the alert has text after all fields are replaced.
  private func hold(_ written: [JSONText.Member], _ alert: Range<Int>?, _ place: AlertPlace, in text: JSONText) -> Bool {
    if fields.contains(where: \.isText) { return true }
    func isReplaced(_ name: String) -> Bool { fields.contains { $0.name == name } }
    if let alert, text.isText(alert) { return !isReplaced("body") }
    return (Self.names.filter { !isReplaced($0) } + Self.keyNames).contains { name in
      written.last { text.isNamed($0, name) }.map { text.isText($0.value) } ?? false
    } || place.given.contains { !isReplaced($0.name) }
  }

  /// Replaces an alert that is a string, or is missing, by an object.
  private func replacement(of alert: Range<Int>?, _ fields: [Field], _ place: AlertPlace, in text: JSONText) -> LineEdit {
    var others = place.given.map { Field(name: $0.name, source: $0.source) }
    if let alert, text.isText(alert) { others = [Field(name: "body", source: Array(text.source(alert)))] }
    let all = Self.names.compactMap { name in (fields + others).first { $0.name == name } }
    let object = [UInt8(ascii: "{")] + Self.members(all) + [UInt8(ascii: "}")]
    if let alert { return LineEdit(alert, object) }
    let member = Array("\"\(place.name ?? "")\":".utf8) + object
    return insertion(member, into: place.holder, isEmpty: text.members(of: place.holder).isEmpty)
  }

  private func insertion(_ members: [UInt8], into object: Range<Int>, isEmpty: Bool) -> LineEdit {
    let brace = object.upperBound - 1
    return LineEdit(brace..<brace, (isEmpty ? [] : [UInt8(ascii: ",")]) + members)
  }

  private static func members(_ fields: [Field]) -> [UInt8] {
    var json = JSONWriter()
    json.beginObject()
    for field in fields {
      json.key(field.name)
      json.source(field.source)
    }
    json.endObject()
    return Array(json.bytes.dropFirst().dropLast())
  }
}

extension LineOpener {
  /// Records the edits that replace texts of the alert in the line that was opened last.
  func apply(_ overrides: [DialectText.Override], to payload: inout Payload, of line: UnsafeRawBufferPointer) {
    let words = AlertOverrides(overrides)
    var edits: [LineEdit] = []
    if let place {
      let text = place.levels.isEmpty ? JSONText(unsafe Array(line[json])) : place.text
      guard let alert = place.alert, let text else { return }
      edits = words.edits(at: alert, in: text)
      payload.edits = place.lineEdits(edits, from: json.lowerBound)
    } else {
      let text = JSONText(unsafe Array(line))
      guard let aps = text.object("aps", of: payload.splice.payload) else { return }
      edits = words.edits(at: AlertPlace(holder: aps), in: text)
      payload.edits = edits
    }
    payload.splice.payloadCount += edits.reduce(0) { $0 + $1.growth }
  }
}
