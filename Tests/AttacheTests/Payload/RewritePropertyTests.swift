import AttacheTesting
import Testing

@testable import Attache

/// A property of every rewritten line, with random JSON around the media and any number of strings
/// around the payload.
struct RewritePropertyTests {
  @Test(arguments: 0..<300)
  func `only the URLs differ, and the second run changes nothing`(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    var members = [#""aps":{"alert":"Hi","mutable-content":1}"#, #""fcm_options":{"image":"<1>"}"#, #""es_interaction_id":"r""#]
    for number in 0..<Int.random(in: 0...4, using: &random) {
      members.append("\(string("k\(number)", &random)) : \(value(depth: 3, &random))")
    }
    if Bool.random(using: &random) {
      members.append(#""es_notification_images":"[{\"q\":\#(value(depth: 1, &random).escapedJSON)}, \"<2>\" ]""#)
    }
    members.shuffle(using: &random)
    var marked = "{" + members.joined(separator: Bool.random(using: &random) ? " , " : ",") + "}"
    var path: [String] = []
    for level in 0..<Int.random(in: 0...3, using: &random) {
      marked = "{\(string("x", &random)):\(value(depth: 2, &random)),\"p\(level)\" :\"\(marked.escapedJSON)\"}"
      path.insert("p\(level)", at: 0)
    }
    var stage = try RewriteStage()
    stage.path = path.isEmpty ? nil : JSONPointer(parts: path)
    let (line, twin) = try stage.twins(marked)
    #expect(try stage.rewrite(line) == twin, "\(line)")
    #expect(stage.read(twin).reason == .payloadEnriched)
    #expect(try stage.rewrite(twin) == twin)
  }

  private func value(depth: Int, _ random: inout SeededGenerator) -> String {
    switch Int.random(in: 0..<(depth > 0 ? 7 : 5), using: &random) {
    case 0: return ["null", "true", "-0.0e+1", "1e999", "12345678901234567890123"].randomElement(using: &random) ?? "0"
    case 1, 2, 3: return string("v", &random)
    case 4: return #""https:\/\/a.example\/1""#
    case 5:
      let elements = (0..<Int.random(in: 0...3, using: &random)).map { _ in value(depth: depth - 1, &random) }
      return "[ " + elements.joined(separator: ",") + "]"
    default:
      let members = (0..<Int.random(in: 0...3, using: &random)).map { _ in "\(string("k", &random)):\(value(depth: depth - 1, &random))" }
      return "{" + members.joined(separator: " ,") + " }"
    }
  }

  /// A string that begins with a prefix, which keeps it from being a name that a dialect reads.
  private func string(_ prefix: String, _ random: inout SeededGenerator) -> String {
    let pieces = [
      #"\""#, #"\\"#, #"\/"#, #"\u0000"#, #"\ud83d\ude00"#, #"\ud800"#, "é", "😀", "}", "{", "[", "]", ",", ":", " ",
      #"\u0022"#, #"\n"#,
    ]
    return "\"q-" + prefix + (0..<Int.random(in: 0...5, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
      + "\""
  }
}

extension String {
  /// The text as it is written within a JSON string.
  fileprivate var escapedJSON: String { String(decoding: JSONString.escaped(Array(utf8)), as: UTF8.self) }
}
