import Attache
import Foundation
import Testing

/// The payloads of `Fixtures/payloads` give the results that their page lists.
struct PayloadFixtureTests {
  static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../Fixtures/payloads").standardized

  @Test func `every payload is read as its page says`() throws {
    let page = try text(of: "README.md")
    let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path).filter { $0.hasSuffix(".json") }
    #expect(names.count >= 10)
    for name in names {
      let line = try text(of: name)
      #expect(line.last == "\n" && line.filter(\.isNewline).count == 1, "\(name) is one line")
      #expect(page.contains("| `\(name)` | \(outcome(of: line)) |"), "\(name)")
    }
  }

  @Test func `every picture that a payload asks for is named`() throws {
    let reader = PayloadReader(dialects: DialectTable(mediaKeys: [JSONPointer("my-image")]))
    for name in ["01-article", "05-audio", "06-album", "08-localised", "14-metadata", "15-local-file", "17-stalled"] {
      let payload = try #require(reader.read(try text(of: name + ".json")).candidate)
      #expect(payload.references.count == (name == "06-album" ? 2 : 1), "\(name)")
    }
  }

  /// A file's text with the address of an origin filled in.
  private func text(of name: String) throws -> String {
    let text = try String(contentsOf: Self.folder.appending(path: name), encoding: .utf8)
    return text.replacingOccurrences(of: "{{origin}}", with: "http://127.0.0.1:8080")
  }

  private func outcome(of line: String) -> String {
    switch PayloadReader().read(line) {
    case .candidates: "candidate"
    case .passthrough, .unopened: "passthrough"
    case .invalid: "invalid"
    }
  }
}
