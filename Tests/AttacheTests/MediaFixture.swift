import Foundation
import Testing

@testable import Attache

/// A file of Fixtures/media and the expected answer.
struct MediaFixture: CustomTestStringConvertible, Equatable, Sendable {
  struct Answer: Decodable, Equatable {
    var type: String?
    var reason: String?
  }

  static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Fixtures/media")

  var name: String
  var answer: Answer

  var testDescription: String { name }

  var bytes: [UInt8] {
    get throws { [UInt8](try Data(contentsOf: Self.folder.appending(path: name))) }
  }

  /// Every row of expected.json, by name; empty if it cannot be read, which another test detects.
  static let all: [MediaFixture] = {
    guard let data = try? Data(contentsOf: folder.appending(path: "expected.json")),
      let rows = try? JSONDecoder().decode([String: Answer].self, from: data)
    else { return [] }
    return rows.map { MediaFixture(name: $0.key, answer: $0.value) }.sorted { $0.name < $1.name }
  }()

  static let accepted = all.filter { $0.answer.type != nil }
  static let refused = all.filter { $0.answer.reason != nil }
  /// Files of a type that Apple lists, refused only because of their structure.
  static let defective = refused.filter { ["type.broken", "size.pixels"].contains($0.answer.reason) }
}
