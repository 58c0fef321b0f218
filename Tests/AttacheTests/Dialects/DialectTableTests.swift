import Attache
import Foundation
import Testing

/// The order of the table and the features of a row.
struct DialectTableTests {
  let both = #""image":"https://a.example/image","fcm_options":{"image":"https://a.example/fcm"}"#

  @Test func `the dialects can be restricted and ordered`() throws {
    #expect(try urls(both, DialectTable(names: ["generic"])) == ["https://a.example/image"])
    #expect(try urls(both, DialectTable(names: ["firebase"])) == ["https://a.example/fcm"])
    #expect(try urls(both, DialectTable(names: ["firebase", "generic"])) == ["https://a.example/fcm"])
    #expect(
      try urls(both, DialectTable(names: ["generic", "firebase", "generic"])) == ["https://a.example/image", "https://a.example/fcm"])
    #expect(try urls(both, DialectTable(names: [])) == [])
  }

  @Test func `media keys come first whatever the names say`() throws {
    let table = try DialectTable(names: ["firebase"], mediaKeys: [JSONPointer("image")])
    #expect(try urls(both, table) == ["https://a.example/image", "https://a.example/fcm"])
  }

  @Test func `a name may be an alias`() throws {
    #expect(try urls(both, DialectTable(names: ["fcm", "firebase"])) == ["https://a.example/fcm"])
  }

  @Test func `an unknown name is refused with the nearest`() {
    #expect(throws: DialectTableError.unknown("firebse", nearest: "firebase")) { try DialectTable(names: ["generic", "firebse"]) }
    #expect(DialectTableError.unknown("firebse", nearest: "firebase").description.contains("did you mean firebase?"))
    #expect(DialectTableError.unknown("x", nearest: nil).description.contains("`attache dialects` lists them"))
  }

  @Test func `the names are those of the table, firebase first and the generic keys last`() {
    let names = DialectTable.knownNames
    #expect(names.first == "firebase" && names.last == "generic")
    #expect(Set(names).count == names.count)
  }

  @Test func `the manual says how many vendors the table has`() throws {
    let vendors = Set(DialectTable().entries.dropLast().compactMap(\.vendor))
    let page = try String(contentsOf: MediaFixture.folder.appending(path: "../../Documentation/filter.md"), encoding: .utf8)
    #expect(page.contains("where \(vendors.count) vendors put them"))
  }

  @Test func `one's own dialects come before the built-in ones, in the files' order`() throws {
    let file = try DialectFile(name: "mine.json", json: #"[{"name":"b","media":[{"url":"b"}]},{"name":"a","media":[{"url":"a"}]}]"#)
    let more = try DialectFile(name: "more.json", json: #"[{"name":"c","media":[{"url":"c"}]}]"#)
    let table = try DialectTable(files: [file, more])
    let members = #""c":"https://a.example/c","a":"https://a.example/a","b":"https://a.example/b","#
    #expect(try urls(members + both, table) == ["b", "a", "c", "fcm"].map { "https://a.example/\($0)" })
    #expect(try urls(members + both, DialectTable(names: ["c"], files: [file, more])) == ["https://a.example/c"])
  }

  @Test func `one's own dialect takes the place of the built-in one of its name`() throws {
    let file = try DialectFile(name: "mine.json", json: #"[{"name":"firebase","media":[{"url":"fcm_options.picture"}]}]"#)
    let members = both + #","fcm_options":{"picture":"https://a.example/mine"}"#
    #expect(try urls(members, DialectTable(files: [file])) == ["https://a.example/mine"])
    #expect(try DialectTable(files: [file]).rows.filter { $0.name == "firebase" }.count == 1)
    let later = try DialectFile(name: "later.json", json: #"[{"name":"firebase","media":[{"url":"x"}]}]"#)
    #expect(try urls(members, DialectTable(files: [file, later])) == ["https://a.example/image"])
  }

  @Test func `strict dialects refuse what the vendor's helper would not load, and say so`() throws {
    let rows = #"""
      [{"name":"hint","media":[{"url":"h","type_hint":{"at":"t"},"needs":["type-hint"]}]},
       {"name":"tls","media":[{"url":"s","fallback":["f"],"needs":["https"]}]}]
      """#
    let file = try DialectFile(name: "mine.json", json: rows)
    let members = #""h":"https://a.example/h","s":"http://a.example/s","f":"http://a.example/f""#
    #expect(try urls(members, DialectTable(files: [file])) == ["https://a.example/h", "http://a.example/s"])
    let strict = try DialectTable(files: [file], isStrict: true)
    let refused = DialectStage(strict).media("{\(members)}")
    #expect(refused.map(\.refusal) == [.payloadForm, .payloadForm])
    #expect(
      refused.map { $0.misfit.map { $0.sentence(at: $0.place) } } == [
        "--strict-dialects: the URL at /h has no type hint, without which the helper of hint loads nothing; add the hint",
        "--strict-dialects: the URL at /s is not https, so the helper of tls does not load it; serve the media over https",
      ])
    #expect(DialectStage(strict).dialect("{\(members)}") == "hint")
    let mixed = DialectStage(strict).media("{\(members),\"t\":\"gif\"}")
    #expect(mixed.map(\.refusal) == [nil, .payloadForm])
    let fitting = members + #","t":"gif","s":"HTTPS://a.example/s""#
    #expect(try urls(fitting, strict) == ["https://a.example/h", "HTTPS://a.example/s"])
    #expect(try #require(PayloadReader(dialects: strict).read(candidateLine(fitting)).candidate).references.last?.fallbacks == [])
  }

  @Test func `two vendors that name one URL name it once`() throws {
    let file = try DialectFile(name: "mine.json", json: #"[{"name":"a","media":[{"url":"a"}]},{"name":"b","media":[{"url":"b"}]}]"#)
    #expect(try urls(#""b":"https://a.example/1","a":"https://a.example/1""#, DialectTable(files: [file])) == ["https://a.example/1"])
  }

  @Test func `a sender's picture is no attachment, and holds no other dialect back`() throws {
    let file = try DialectFile(name: "mine.json", json: #"[{"name":"chat","media":[{"url":"face","role":"avatar"}]}]"#)
    let table = try DialectTable(files: [file])
    #expect(try urls(#""face":"https://a.example/face""#, table) == [])
    #expect(try urls(#""face":"https://a.example/1","image":"https://a.example/1""#, table) == ["https://a.example/1"])
  }

  @Test func `a row is listed with what it says and how it is written`() throws {
    let row =
      #"{ "name": "mine", "vendor": "Me", "aliases": ["my-own"], "note": "N.", "media": [{"url": "a"}], "sample": {"payload": {"a": 1}} }"#
    let entries = try DialectTable(files: [DialectFile(name: "mine.json", json: "[\n\(row)]")]).entries
    let entry = try #require(entries.first)
    #expect(entry.name == "mine" && entry.vendor == "Me" && entry.aliases == ["my-own"] && entry.note == "N." && entry.source == nil)
    #expect(entry.json == row && entry.samplePayload == #"{"a": 1}"# && !entry.isBuiltIn)
    #expect(entries.dropFirst().map(\.name) == DialectTable.knownNames && entries.dropFirst().allSatisfy(\.isBuiltIn))
    #expect(entries.dropFirst().allSatisfy { $0.samplePayload != nil && $0.vendor != nil && $0.source != nil })
  }

  private func urls(_ members: String, _ table: DialectTable) throws -> [String] {
    try #require(PayloadReader(dialects: table).read(candidateLine(members)).candidate).urls
  }
}
