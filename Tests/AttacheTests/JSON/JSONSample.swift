import AttacheTesting

/// Random JSON text with difficult parts: braces and quotes in strings, escapes, spaces, empty
/// containers.
enum JSONSample {
  static let scalars = [
    "0", "-1", "12.5", "1e3", "true", "false", "null", #""""#, #""}""#, #""{\"""#, #""\\""#, #""\\\"]""#, #""é\u00e9\ud83d\ude00""#,
    #"",""#,
    #""https://a.example/x""#,
  ]

  static func space(using random: inout SeededGenerator) -> String {
    ["", "", " ", "\t", "  "].randomElement(using: &random) ?? ""
  }

  static func value(depth: Int, using random: inout SeededGenerator) -> String {
    let gap = space(using: &random)
    switch depth == 0 ? 0 : Int.random(in: 0..<3, using: &random) {
    case 0:
      return scalars.randomElement(using: &random) ?? "null"
    case 1:
      let values = (0..<Int.random(in: 0..<4, using: &random)).map { _ in value(depth: depth - 1, using: &random) }
      return "[" + gap + values.joined(separator: gap + ",") + gap + "]"
    default:
      let members = (0..<Int.random(in: 0..<4, using: &random)).map { #""k\#($0)"\#(gap):"# + value(depth: depth - 1, using: &random) }
      return "{" + gap + members.joined(separator: gap + "," + gap) + gap + "}"
    }
  }
}
