import ArgumentParser
import Attache
import CPage
import Foundation
import Mustache

/// The page of all notifications.
struct PreviewPage {
  let title: String
  let app: String
  let items: [PreviewItem]

  /// The bytes of media that a page contains at most.
  static let embeddedBytes = 20_000_000

  /// What the page's script reads.
  private struct Content: Encodable {
    /// A file in the store, and where the page finds it.
    struct File: Encodable {
      var mime: String
      var size: Int
      var url: String?
      /// Why there is no URL.
      var note: String?
    }

    var app: String
    var items: [PreviewItem]
    var files: [String: File] = [:]
  }

  /// Writes the page, and for a folder its media.
  func write(to target: PageTarget, media: StoredMedia) throws {
    let page = try target.begin()
    var content = Content(app: app.isEmpty ? "App" : app, items: items)
    var embedded = 0
    for name in items.flatMap(\.after.media) where content.files[name] == nil {
      guard let file = media.file(name) else { continue }
      var entry = Content.File(mime: file.mime, size: file.size)
      if let folder = page.media {
        entry.url = try target.copy(file, as: name, to: folder)
      } else if file.size <= Self.embeddedBytes - embedded {
        guard let data = FileManager.default.contents(atPath: file.path) else { throw PreviewFailure.file(file.path, errno) }
        embedded += data.count
        entry.url = "data:\(file.mime);base64,\(data.base64EncodedString())"
      } else {
        entry.note = "not in this page, which has 20 MB of media at most; write the page to a folder"
      }
      content.files[name] = entry
    }
    try target.write(try text(content, isFolder: page.media != nil), to: page)
  }

  private func text(_ content: Content, isFolder: Bool) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    // No text in the JSON can end its element: there is no less-than sign.
    let json = String(decoding: try encoder.encode(content), as: UTF8.self).replacing("<", with: "\\u003c")
    let (style, script) = unsafe (Self.part(page_style), Self.part(page_script))
    let outcomes = Dictionary(grouping: items.compactMap(\.outcome)) { $0 }.mapValues(\.count).sorted { $0.key < $1.key }
    let template = try MustacheTemplate(string: unsafe Self.part(page_template))
    return template.render(
      [
        "title": title, "count": items.count == 1 ? "1 notification" : "\(items.count) notifications",
        "outcomes": outcomes.map { ["name": $0.key, "number": "\($0.value)"] },
        "notes": notes, "policy": Self.policy(style, script, isFolder: isFolder), "style": style, "script": script, "data": json,
      ] as [String: Any])
  }

  private var notes: [String] {
    items.isEmpty ? ["The file has no payload."] : []
  }

  /// What the page may load: its own style and script by their hashes, and media from itself.
  private static func policy(_ style: String, _ script: String, isFolder: Bool) -> String {
    func hash(_ text: String) -> String { "'sha256-\(SHA256.hash(Array(text.utf8)).base64)'" }
    let media = isFolder ? "'self' file:" : "data:"
    return
      "default-src 'none'; img-src \(media); media-src \(media); style-src \(hash(style)); script-src \(hash(script)); base-uri 'none'; form-action 'none'"
  }

  private static func part(_ read: (UnsafeMutablePointer<Int>) -> UnsafePointer<CChar>) -> String {
    var length = 0
    let start = unsafe read(&length)
    return unsafe String(decoding: UnsafeRawBufferPointer(start: start, count: length), as: UTF8.self)
  }
}
