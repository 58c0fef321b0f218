import AttacheTesting
import Attache
import Foundation
import Testing

/// Properties of every payload.
struct PayloadPropertyTests {
  let reader = PayloadReader(dialects: DialectTable(mediaKeys: [JSONPointer("data", "list")]))
  let line =
    #"{"aps":{"alert":{"title":"T","subtitle":"S","body":"B","loc-key":"L"},"badge":1,"sound":{"name":"a"},"category":"c","thread-id":"t","#
    + #""mutable-content":1,"data":{"attachment-url":"https://a.example/4"}},"data":{"list":["https://a.example/1",{"url":"https://a.example/2","#
    + #""identifier":"i","options":{"thumbnailHidden":true,"thumbnailClippingRect":{"x":0,"y":0,"width":1,"height":1}}}]},"#
    + #""image":"https://a.example/3","fcm_options":{"image":""}}"#

  @Test func `the payload names all its media`() throws {
    #expect(try #require(reader.read(line).candidate).urls == (1...4).map { "https://a.example/\($0)" })
  }

  @Test(arguments: ["null", "true", "0", "-1.5", "1e400", #""""#, #""x""#, "[]", "{}", "[[[]]]", #"{"url":7}"#, #"[null,{"image":[]}]"#])
  func `a wrong type anywhere finds less and never fails`(wrong: String) throws {
    let object = try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    let all = Set(try #require(reader.read(line).candidate).urls)
    for variant in variants(of: object).dropFirst() {
      let text = try JSONSerialization.data(withJSONObject: variant)
      let changed = String(decoding: text, as: UTF8.self).replacingOccurrences(of: #""\#(marker)""#, with: wrong)
      switch reader.read(changed) {
      case .candidates(let payloads): #expect(Set(payloads.flatMap(\.urls)).subtracting(["x"]).isSubset(of: all), "\(changed)")
      case .passthrough(_, let reason, _): #expect([.payloadNoAlert, .payloadNotMutable].contains(reason), "\(changed)")
      case .unopened: break
      case .invalid: Issue.record("invalid: \(changed)")
      }
    }
  }

  @Test(arguments: 0..<50)
  func `unknown keys and the order of keys never change the answer`(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
    let shuffled = text(of: object, shuffledBy: &random)
    let original = try #require(reader.read(line).candidate)
    let payload = try #require(reader.read(shuffled).candidate, "\(shuffled)")
    #expect(payload.shown(of: shuffled) == original.shown(of: line))
    #expect(Set(original.content(of: line).userInfo.keys).isSubset(of: payload.content(of: shuffled).userInfo.keys))
    #expect(payload.references == original.references)
    #expect(payload.dialect == original.dialect)
    #expect(payload.splice.payload == 0..<shuffled.utf8.count)
  }

  private let marker = "the wrong value"

  /// Copies of the value in which one value at any depth is replaced by the marker; first the value
  /// itself.
  private func variants(of value: Any) -> [Any] {
    var variants: [Any] = [marker]
    if let object = value as? [String: Any] {
      for (key, member) in object {
        for variant in self.variants(of: member) { variants.append(object.merging([key: variant]) { $1 }) }
      }
    }
    if let array = value as? [Any] {
      for index in array.indices {
        for variant in self.variants(of: array[index]) { variants.append(Array(array[..<index] + [variant] + array[(index + 1)...])) }
      }
    }
    return variants
  }

  /// JSON text with the members of every object in random order, and unknown ones between them.
  private func text(of value: Any, shuffledBy random: inout SeededGenerator) -> String {
    switch value {
    case let object as [String: Any]:
      var members = object.keys.sorted().map { key in "\"\(key)\":" + text(of: object[key] as Any, shuffledBy: &random) }
      for index in 0..<Int.random(in: 0..<4, using: &random) {
        members.append(#""unknown-\#(index)":"# + JSONSample.value(depth: 2, using: &random))
      }
      return "{" + members.shuffled(using: &random).joined(separator: ",") + "}"
    case let array as [Any]:
      return "[" + array.map { text(of: $0, shuffledBy: &random) }.joined(separator: ",") + "]"
    default:
      let data = try? JSONSerialization.data(withJSONObject: value, options: .fragmentsAllowed)
      return String(decoding: data ?? Data(), as: UTF8.self)
    }
  }
}
