import AttacheTesting
import Testing

@testable import Attache

/// A property of every line with an envelope: the result parses to the original plus the member.
struct EnvelopePropertyTests {
  private static let member = #""attache":{"attachments":[{"url":"a\"\\b\u00e9\ud83d\ude00"}]}"#

  /// The shape of an envelope, and the path to the object that gets the member; `"` means to enter
  /// a string.
  private enum Shape: CaseIterable {
    case fcm, sns, both, message, path, gorush, oneSignal, expo

    var ways: [[String]] {
      switch self {
      case .fcm: [["message", "apns", "payload"]]
      case .sns: [["APNS", "\""]]
      case .both: [["APNS", "\""], ["APNS_SANDBOX", "\""]]
      case .message: [["Message", "\"", "APNS", "\""]]
      case .path: [["p", "\"", "q"]]
      case .gorush: [["notifications", "0", "data"]]
      case .oneSignal, .expo: [["data"]]
      }
    }
  }

  @Test(arguments: 0..<400)
  func `the enriched line is the original plus the member`(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let shape = Shape.allCases[seed % Shape.allCases.count]
    let line = line(shape, &random)
    let path = shape == .path ? JSONPointer("p", "q") : nil
    let payload = try #require(PayloadReader(payloadPath: path).read(line).candidate, "\(line)")
    let enriched = payload.enrich(line, with: Self.member)
    let gained = try JSONReader.read(Array("{\(Self.member)}".utf8)[...])
    var expected = try JSONReader.read(Array(line.utf8)[...])
    for way in shape.ways { expected = adding(gained, to: expected, at: way[...]) }
    let found = try JSONReader.read(Array(enriched.utf8)[...])
    #expect(
      shape.ways.reduce(found) { opening($0, at: $1[...]) } == shape.ways.reduce(expected) { opening($0, at: $1[...]) }, "\(enriched)")
    #expect(PayloadReader(payloadPath: path).read(enriched) == .passthrough(.alert, .payloadEnriched), "\(enriched)")
  }

  // MARK: Lines

  private func line(_ shape: Shape, _ random: inout SeededGenerator) -> String {
    let members = self.members(&random)
    let payload = object([#""aps":{"alert":"Hi","mutable-content":1}"#] + members, &random)
    switch shape {
    case .fcm: return object([#""message":"# + object([#""apns":"# + object([#""payload":"# + payload], &random)], &random)], &random)
    case .sns: return object(["\"APNS\":" + string(payload, &random)], &random)
    case .both: return object(["\"APNS\":" + string(payload, &random), "\"APNS_SANDBOX\":" + string(payload, &random)], &random)
    case .message:
      let message = object(["\"APNS\":" + string(payload, &random)], &random)
      return object([#""MessageStructure":"json""#, "\"Message\":" + string(message, &random)], &random)
    case .path: return object(["\"p\":" + string(object(["\"q\":" + payload], &random), &random)], &random)
    case .gorush:
      let text = object(
        [#""platform":1"#, #""message":"Hi""#, #""mutable_content":true"#, "\"data\":" + object(members, &random)], &random)
      return object([#""notifications":[\#(text)]"#], &random)
    case .oneSignal: return object([#""app_id":"x""#, #""contents":{"en":"Hi"}"#, "\"data\":" + object(members, &random)], &random)
    case .expo:
      return object(
        [#""to":"ExpoPushToken[x]""#, #""body":"Hi""#, #""mutableContent":true"#, "\"data\":" + object(members, &random)], &random)
    }
  }

  private func members(_ random: inout SeededGenerator) -> [String] {
    (0..<Int.random(in: 0..<5, using: &random)).map { #""m\#($0 % 3)\u00e4😀":\#(JSONSample.value(depth: 3, using: &random))"# }
  }

  /// An object with these members and meaningless ones, with spaces.
  private func object(_ members: [String], _ random: inout SeededGenerator) -> String {
    var all = members
    for index in 0..<Int.random(in: 0..<3, using: &random) {
      let place = Int.random(in: 0...all.count, using: &random)
      all.insert(#""z\#(index)":"# + JSONSample.value(depth: 2, using: &random), at: place)
    }
    let space = JSONSample.space(using: &random)
    return space + "{" + all.joined(separator: space + "," + space) + space + "}" + space
  }

  /// A text as a JSON string, with each character in one of the forms that JSON allows.
  private func string(_ text: String, _ random: inout SeededGenerator) -> String {
    var written = "\""
    for scalar in text.unicodeScalars {
      let isPlain = scalar != "\"" && scalar != "\\" && scalar.value >= 0x20
      switch Int.random(in: 0..<8, using: &random) {
      case 0: for unit in String(scalar).utf16 { written += "\\u" + String(String(0x10000 + Int(unit), radix: 16).dropFirst()) }
      case 1 where scalar == "/": written += "\\/"
      default: written += isPlain ? String(scalar) : scalar == "\t" ? "\\t" : "\\\(scalar)"
      }
    }
    return written + "\""
  }

  // MARK: Values

  private func adding(_ gained: JSONValue, to value: JSONValue, at way: ArraySlice<String>) -> JSONValue {
    change(value, at: way) { value in
      guard case .object(var object) = value, case .object(let more) = gained else { return value }
      object.members.merge(more.members) { $1 }
      return .object(object)
    }
  }

  /// The value with the strings on the path replaced by their parsed contents.
  private func opening(_ value: JSONValue, at way: ArraySlice<String>) -> JSONValue { change(value, at: way) { $0 } }

  private func change(_ value: JSONValue, at way: ArraySlice<String>, _ body: (JSONValue) -> JSONValue) -> JSONValue {
    guard let step = way.first else { return body(value) }
    let rest = way.dropFirst()
    switch value {
    case .string(let bytes) where step == "\"": return (try? JSONReader.read(bytes[...])).map { change($0, at: rest, body) } ?? value
    case .object where step == "\"": return change(value, at: rest, body)
    case .object(var object):
      object.members[Array(step.utf8)] = object.members[Array(step.utf8)].map { change($0, at: rest, body) }
      return .object(object)
    case .array(var elements):
      if let index = Int(step), elements.indices.contains(index) { elements[index] = change(elements[index], at: rest, body) }
      return .array(elements)
    default: return value
    }
  }
}
