import Foundation
import Testing

/// `attache rehearse --preview`.
@Suite(.timeLimit(.minutes(1)))
struct RehearsePreviewTests {
  static func items(_ page: String) throws -> [[String: Any]] {
    let text = try String(contentsOfFile: page, encoding: .utf8)
    let start = try #require(text.range(of: #"id="data">"#)?.upperBound)
    let object = try JSONSerialization.jsonObject(with: Data(text[start...].prefix { $0 != "<" }.utf8)) as? [String: Any]
    return try #require(object?["items"] as? [[String: Any]])
  }

  @Test func `a page shows what each scenario expects beside what came`() async throws {
    let wrong = RehearseFolder.photos.replacing("reason: deadline", with: "reason: http.status")
    let folder = try RehearseFolder(["right": RehearseFolder.photos, "wrong": wrong])
    let page = folder.path + "/page.html"
    let run = try await folder.rehearse(["--preview", page])
    #expect(run.exit == .status(99), "\(run.text)")
    let items = try Self.items(page)
    #expect(Set(items.compactMap { $0["scenario"] as? String }) == ["right", "wrong"])
    for item in items { #expect(item["outcome"] as? String != "lost" && item["expected"] as? String != nil) }
    let deviations = items.filter { !(($0["deviations"] as? [String]) ?? []).isEmpty }
    #expect(Set(deviations.compactMap { $0["scenario"] as? String }) == ["wrong"])
    #expect((deviations.first?["deviations"] as? [String])?.first?.contains("expected http.status, got deadline") == true)
    let attached = try #require(items.first { $0["outcome"] as? String == "attached" })
    #expect((attached["after"] as? [String: Any])?["media"] as? [String] != [])
  }
}
