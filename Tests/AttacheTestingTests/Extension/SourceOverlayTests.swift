import AttacheTesting
import Testing

/// The changes that let a source for Apple's platforms compile.
@Suite struct SourceOverlayTests {
  private func overlay(_ text: String) -> String {
    String(decoding: SourceOverlay.text(Array(text.utf8)), as: UTF8.self)
  }

  @Test(arguments: [
    ("@objc func run() {}", "      func run() {}"),
    ("@objc(Name) class A {}", "            class A {}"),
    ("@objc(run:with:) dynamic func run() {}", "                 dynamic func run() {}"),
    ("@objcMembers final class A {}", "             final class A {}"),
    ("@objcName var a = 1", "@objcName var a = 1"),
    ("@main class A {}", "      class A {}"),
    ("@UIApplicationMain class A {}", "                   class A {}"),
    ("import Foundation", "import Groundwork"),
    ("  @testable import  Foundation // Foundation", "  @testable import  Groundwork // Foundation"),
    ("import struct Foundation.Data", "import struct Groundwork.Data"),
    ("import FoundationNetworking", "import FoundationNetworking"),
    ("let url: Foundation.URL", "let url: Foundation.URL"),
    ("// import Foundation @objc", "// import Foundation @objc"),
    ("/* /* @objc */ import Foundation */ @objc", "/* /* @objc */ import Foundation */      "),
    (#"let a = "@objc \(f("import Foundation")) @objc" @objc"#, #"let a = "@objc \(f("import Foundation")) @objc"      "#),
    (##"let a = #"@objc \"# @objc"##, ##"let a = #"@objc \"#      "##),
    (##"let a = #"\#(b + "@objc")"# @objc"##, ##"let a = #"\#(b + "@objc")"#      "##),
    (
      "let a = \"\"\"\n@objc \"quoted\"\nimport Foundation\n\"\"\"\n@objc",
      "let a = \"\"\"\n@objc \"quoted\"\nimport Foundation\n\"\"\"\n     "
    ),
    ("let a = \"unterminated @objc\n@objc", "let a = \"unterminated @objc\n     "),
    ("@objc(", "     ("),
    ("", ""),
  ])
  func `only attributes and imports change`(source: String, expected: String) {
    #expect(overlay(source) == expected)
  }

  @Test func `every line keeps its length, whatever the bytes are`() {
    var generator = SystemRandomNumberGenerator()
    let parts = ["@objc", "(", ")", "\"", "\"\"\"", "#", "\\(", "\\", "/*", "*/", "//", "\n", "import ", "Foundation", "x", "é", "\u{0}"]
    for _ in 0..<2_000 {
      let source = (0..<30).map { _ in parts.randomElement(using: &generator) ?? "" }.joined()
      let lines = source.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).map(\.count)
      let changed = overlay(source).utf8.split(separator: 0x0A, omittingEmptySubsequences: false).map(\.count)
      #expect(lines == changed, "\(source.debugDescription)")
    }
  }
}
