import AttacheTesting
import Attache
import Foundation
import Testing

struct JSONWriterTests {
  @Test func `commas come by themselves`() {
    var json = JSONWriter()
    json.beginObject()
    json.key("a")
    json.beginArray()
    json.integer(1)
    json.beginObject()
    json.endObject()
    json.beginArray()
    json.endArray()
    json.null()
    json.endArray()
    json.key("b")
    json.boolean(true)
    json.key("c")
    json.string("{")
    json.key("d")
    json.boolean(false)
    json.endObject()
    #expect(String(decoding: json.bytes, as: UTF8.self) == #"{"a":[1,{},[],null],"b":true,"c":"{","d":false}"#)
  }

  @Test(arguments: [
    ("", #""""#), ("plain", #""plain""#), (#"a"b\c/d"#, #""a\"b\\c/d""#), ("\n\r\t\u{8}\u{C}", #""\n\r\t\b\f""#),
    ("\0\u{1}\u{F}\u{10}\u{1F}\u{7F}", "\"\\u0000\\u0001\\u000f\\u0010\\u001f\u{7F}\""), ("é 日本 😀\u{2028}", "\"é 日本 😀\u{2028}\""),
  ])
  func `a string is escaped where JSON requires it`(text: String, expected: String) throws {
    var json = JSONWriter()
    json.string(text)
    #expect(String(decoding: json.bytes, as: UTF8.self) == expected)
    let back = try JSONSerialization.jsonObject(with: Data(json.bytes), options: .fragmentsAllowed) as? String
    #expect(back == text)
  }

  @Test(
    arguments: [
      (0, "0"), (-0.0, "-0"), (1, "1"), (0.1, "0.1"), (1951.2, "1951.2"), (-48.8, "-48.8"), (1e21, "1e+21"), (1.5e-7, "1.5e-07"),
      (.infinity, "null"), (-.infinity, "null"), (.nan, "null"),
    ] as [(Double, String)])
  func `a double is written in its shortest form`(value: Double, expected: String) {
    var json = JSONWriter()
    json.double(value)
    #expect(String(decoding: json.bytes, as: UTF8.self) == expected)
  }

  @Test(arguments: 0..<200)
  func `a double reads back as it was`(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let value = Double(bitPattern: random.next())
    guard value.isFinite else { return }
    var json = JSONWriter()
    json.double(value)
    #expect(Double(String(decoding: json.bytes, as: UTF8.self)) == value)
  }

  @Test func `integers have no limit but their type's`() {
    var json = JSONWriter()
    json.beginArray()
    json.integer(Int64.min)
    json.integer(UInt64.max)
    json.endArray()
    #expect(String(decoding: json.bytes, as: UTF8.self) == "[-9223372036854775808,18446744073709551615]")
  }
}
