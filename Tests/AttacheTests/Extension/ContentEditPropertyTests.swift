import AttacheTesting
import Testing

@testable import Attache

/// What holds for every change of content: the line then reads as the changed content, and every
/// member that did not change keeps its bytes and its order.
struct ContentEditPropertyTests {
  private static let texts = ["T", "\"\\\n", "e\u{301}😀", "\u{0}\u{7f}/"]
  private static let keys = ["a", "b", "c\"", "ä"]
  private static let alertNames = ["title", "title-loc-key", "subtitle", "subtitle-loc-key", "body", "loc-key"]
  private static let apsNames = ["alert", "badge", "sound", "category", "thread-id"]

  let stage: ContentStage

  init() throws {
    stage = try ContentStage()
  }

  @Test(arguments: 0..<400)
  func `the line reads as the changed content, and all else keeps its bytes`(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let envelope = Bool.random(using: &random) ? ContentEditTests.Envelope.allCases.randomElement(using: &random) : nil
    let payload = Self.payload(&random)
    let line = envelope?.line(payload) ?? payload
    let reader = PayloadReader(payloadPath: envelope?.path)
    let original = try #require(reader.read(line).candidate, "\(line)").content(of: line)
    var wanted = original
    Self.change(&wanted, &random)
    let content = wanted
    let decision = stage.decide(line, path: envelope?.path) { $0 = content }
    guard content.hasAlertText else { return }
    let changed = decision.text(of: line)
    guard decision.outcome == .attached else {
      #expect(decision.outcome == .passthrough && changed == line && content == original)
      return
    }
    #expect(try #require(reader.read(changed).candidate, "\(changed)").content(of: changed) == content, "\(line)\n\(changed)")
    // An alert that is a string becomes an object.
    let isObject = !payload.contains(/"alert"[ \t]*:[ \t]*"/)
    let (before, after) = (
      try kept(line, envelope, original, content, isObject), try kept(changed, envelope, original, content, isObject)
    )
    #expect(before == after, "\(line)\n\(changed)")
  }

  // MARK: Lines

  private static func payload(_ random: inout SeededGenerator) -> String {
    var alert = string(&random)
    if Bool.random(using: &random) {
      let names = alertNames.filter { _ in Bool.random(using: &random) } + ["body"]
      alert = object(names.map { (name($0, &random), string(&random)) } + [("\"n\"", "[1 ]")], &random)
    }
    let values = [
      ("badge", ["1", "2.0", "\"3\"", "-4"]), ("sound", [#""s""#, #"{"critical":1 , "name":"s"}"#, "7"]), ("category", [#""c""#, "null"]),
      ("thread-id", [#""t""#, #""\u0074""#]),
    ]
    var aps = values.flatMap { name, values in
      (0..<Int.random(in: 0...2, using: &random)).map { _ in (Self.name(name, &random), values.randomElement(using: &random) ?? "1") }
    }
    aps += [("\"alert\"", alert), (#""mutable-content""#, "1"), (#""x""#, "{ }")]
    let own = keys.flatMap { key in
      (0..<Int.random(in: 0...2, using: &random)).map { _ in (name(key, &random), JSONSample.value(depth: 2, using: &random)) }
    }
    return object(own + [("\"aps\"", object(aps, &random))], &random)
  }

  /// A name as JSON, with or without an escape.
  private static func name(_ name: String, _ random: inout SeededGenerator) -> String {
    let string = "\"" + JSONString.text(name[...]) + "\""
    return Bool.random(using: &random) ? string : string.replacing("a", with: "\\u0061").replacing("t", with: "\\u0074")
  }

  private static func string(_ random: inout SeededGenerator) -> String {
    "\"" + JSONString.text((texts.randomElement(using: &random) ?? "")[...]) + "\""
  }

  private static func object(_ members: [(String, String)], _ random: inout SeededGenerator) -> String {
    let space = JSONSample.space(using: &random)
    let members = members.shuffled(using: &random).map { $0 + space + ":" + $1 }
    return "{" + space + members.joined(separator: space + "," + space) + space + "}"
  }

  // MARK: Changes

  private static func change(_ content: inout NotificationContent, _ random: inout SeededGenerator) {
    func some<Value>(_ value: Value, _ others: [Value]) -> Value {
      Int.random(in: 0..<3, using: &random) == 0 ? others.randomElement(using: &random) ?? value : value
    }
    content.title = some(content.title, texts + ["", ""])
    content.subtitle = some(content.subtitle, texts + ["", ""])
    content.body = some(content.body, texts + [""])
    content.badge = some(content.badge, [nil, 0, 5, max(0, content.badge ?? 0)])
    content.sound = some(content.sound, [nil, "n"])
    content.categoryIdentifier = some(content.categoryIdentifier, ["", "n"])
    content.threadIdentifier = some(content.threadIdentifier, ["", "n"])
    for key in keys.map({ UntrustedText($0) }) {
      content.userInfo[key] = some(content.userInfo[key], [nil, Array("[1]".utf8), Array(#"{"k":"\\"}"#.utf8)])
    }
  }

  // MARK: Bytes

  /// The sources of the members that did not change, with those of an alert that is an object.
  private func kept(
    _ line: String, _ envelope: ContentEditTests.Envelope?, _ original: NotificationContent, _ changed: NotificationContent,
    _ isObject: Bool
  ) throws -> [String] {
    let reader = PayloadReader(payloadPath: envelope?.path)
    let payload = try #require(reader.read(line).candidate)
    let text = payload.place?.text ?? JSONText(Array(line.utf8))
    let object = payload.place?.object ?? payload.splice.payload
    let aps = try #require(text.object("aps", of: object))
    var names = Set(Self.keys.filter { original.userInfo[UntrustedText($0)] != changed.userInfo[UntrustedText($0)] })
    let outer = sources(of: object, in: text, without: names.union(["aps"]))
    names = ["alert"]
    if original.badge != changed.badge { names.insert("badge") }
    if original.sound != changed.sound { names.insert("sound") }
    if original.categoryIdentifier != changed.categoryIdentifier { names.insert("category") }
    if original.threadIdentifier != changed.threadIdentifier { names.insert("thread-id") }
    let inner = sources(of: aps, in: text, without: names)
    guard isObject, let alert = text.object("alert", of: aps) else { return outer + inner }
    let isText = [original.title != changed.title, original.subtitle != changed.subtitle, original.body != changed.body]
    names = Set(Self.alertNames.enumerated().filter { isText[$0.offset / 2] }.map(\.element))
    return outer + inner + sources(of: alert, in: text, without: names)
  }

  private func sources(of object: Range<Int>, in text: JSONText, without names: Set<String>) -> [String] {
    text.members(of: object).filter { !names.contains(String(decoding: text.string($0.name) ?? [], as: UTF8.self)) }.map {
      String(decoding: text.source($0.name) + text.source($0.value), as: UTF8.self)
    }
  }
}
