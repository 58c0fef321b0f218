package import Attache

/// The output of `attache dialects`.
package enum DialectListing {
  /// Returns one line per dialect: name, vendor, aliases.
  package static func text(_ entries: [DialectEntry]) -> String {
    let width = entries.map(\.name.count).max() ?? 0
    return entries.map { entry in
      let aliases = entry.aliases.isEmpty ? "" : " (also \(entry.aliases.joined(separator: ", ")))"
      return pad(entry.name, width + 2) + shown(entry.vendor ?? "–") + shown(aliases) + "\n"
    }.joined()
  }

  /// Returns the details of one dialect, with its row to copy and a payload to try.
  package static func text(_ entry: DialectEntry) -> String {
    let aliases = entry.aliases.isEmpty ? nil : entry.aliases.joined(separator: ", ")
    let facts = [("vendor", entry.vendor), ("also", aliases), ("source", entry.source), ("note", entry.note)]
    let head = "\(entry.name)\n" + facts.map { name, value in value.map { "  \(pad(name, 8))\(shown($0))\n" } ?? "" }.joined()
    let sample = entry.samplePayload.map { "\nA payload, for attache inspect:\n\n\(printable(JSONText(Array($0.utf8)).compact))\n" } ?? ""
    return head + sample + "\nThe row, as a file for --dialects has it in its array:\n\n\(printable(Array(unindented(entry.json).utf8)))\n"
  }

  /// Returns a dialect as a JSON object.
  package static func json(_ entry: DialectEntry, isWhole: Bool) -> String {
    var json = JSONWriter()
    json.beginObject()
    json.member("name", entry.name)
    json.member("vendor", entry.vendor)
    json.key("aliases")
    json.beginArray()
    for alias in entry.aliases { json.string(alias) }
    json.endArray()
    json.member("source", entry.source)
    json.member("note", entry.note)
    json.member("built_in", entry.isBuiltIn)
    if isWhole {
      json.key("row")
      json.source(JSONText(Array(entry.json.utf8)).compact)
    }
    json.endObject()
    return printable(json.bytes) + "\n"
  }

  private static func printable(_ json: [UInt8]) -> String {
    String(decoding: PrintableText.ofJSON(json), as: UTF8.self)
  }

  private static func shown(_ text: String) -> String {
    text.unicodeScalars.allSatisfy(PrintableText.isPrintable) ? text : PrintableText.of(text)
  }

  private static func pad(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
  }

  /// Removes the indentation that the row has in its file.
  private static func unindented(_ json: String) -> String {
    let lines = json.split(separator: "\n", omittingEmptySubsequences: false)
    let indent = lines.last?.prefix { $0 == " " }.count ?? 0
    return lines.enumerated().map { index, line in
      index > 0 && line.prefix(indent).allSatisfy { $0 == " " } ? line.dropFirst(indent) : line
    }.joined(separator: "\n")
  }
}
