import Foundation
import Testing

@testable import Attache

/// The members that Documentation/dialects.md documents.
struct DialectDocumentTests {
  @Test(arguments: [
    ("Row", Dialect.Member.allCases.map(\.rawValue)), ("Row", DialectTexts.Actions.Member.allCases.map(\.rawValue)),
    ("Row", DialectTexts.Override.Name.allCases.map(\.rawValue)), ("Row", Dialect.Precedence.inForm.map(\.rawValue)),
    ("Condition", Condition.Member.allCases.map(\.rawValue)), ("Condition", Condition.Kind.allCases.map(\.rawValue)),
    ("Source", MediaSource.Member.allCases.map(\.rawValue)), ("Source", MediaSource.Form.allCases.map(\.rawValue)),
    ("Source", MediaSource.Need.allCases.map(\.rawValue)), ("Source", MediaReference.Role.allCases.map(\.rawValue)),
    ("Source", MediaReference.HintKind.allCases.map(\.rawValue)), ("Field", Field.Member.allCases.map(\.rawValue)),
  ])
  func `every word of the form is in its section`(title: String, words: [String]) throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../Documentation/dialects.md").standardized
    let sections = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n## ")
    let section = try #require(sections.first { $0.hasPrefix(title + "\n") })
    for word in words { #expect(section.contains("`\(word)`") || section.contains("\"\(word)\""), "\(word)") }
  }
}
