import Attache
import Testing

/// The table's order and what a row of it can say.
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

  @Test func `an unknown name is refused with the known ones`() {
    #expect(DialectTable.knownNames == ["firebase", "generic"])
    #expect(throws: DialectTableError.unknown("fcm")) { try DialectTable(names: ["generic", "fcm"]) }
    #expect(DialectTableError.unknown("fcm").description.contains("firebase, generic"))
  }

  @Test func `a row can say where hint and identifier stand beside the URL`() throws {
    let row = Dialect(
      "vendor", recogniser: [.object(JSONPointer("v"))],
      sources: [
        MediaSource(
          JSONPointer("v", "att"), form: .any(url: "u"), identifier: .fixed("v-media"), typeHint: .inside(JSONPointer("t")),
          thumbnailHidden: .at(JSONPointer("v", "hidden")))
      ])
    let reader = PayloadReader(dialects: DialectTable(rows: [row]))
    let line = candidateLine(#""v":{"hidden":true,"att":[{"u":"https://a.example/1","t":"gif"},{"u":"https://a.example/2"}]}"#)
    let payload = try #require(reader.read(line).candidate)
    let hidden = AttachmentOptions(thumbnailHidden: true)
    #expect(
      payload.references == [
        MediaReference(url: "https://a.example/1", identifier: "v-media", typeHint: "gif", options: hidden),
        MediaReference(url: "https://a.example/2", identifier: "v-media", options: hidden),
      ])
    #expect(payload.dialect == "vendor")
  }

  @Test func `a row is asked only when all of its recogniser holds`() throws {
    let row = Dialect(
      "vendor", recogniser: [.text(JSONPointer("source"), equals: "vendor"), .object(JSONPointer("meta"))],
      sources: [MediaSource(JSONPointer("pic"), form: .text)])
    let table = DialectTable(rows: [row, Dialect("other", sources: [MediaSource(JSONPointer("pic2"), form: .text)])])
    let members = #""pic":"https://a.example/1","pic2":"https://a.example/2""#
    #expect(try urls(members, table) == ["https://a.example/2"])
    #expect(try urls(members + #","source":"vendor","meta":1"#, table) == ["https://a.example/2"])
    #expect(try urls(members + #","source":"vendors","meta":{}"#, table) == ["https://a.example/2"])
    #expect(try urls(members + #","source":"vendor","meta":{}"#, table) == ["https://a.example/1", "https://a.example/2"])
  }

  @Test func `two vendors that name one URL name it once`() throws {
    let rows = ["a", "b"].map { Dialect($0, sources: [MediaSource(JSONPointer($0), form: .text)]) }
    let members = #""b":"https://a.example/1","a":"https://a.example/1""#
    #expect(try urls(members, DialectTable(rows: rows)) == ["https://a.example/1"])
  }

  private func urls(_ members: String, _ table: DialectTable) throws -> [String] {
    try #require(PayloadReader(dialects: table).read(candidateLine(members)).candidate).urls
  }
}
