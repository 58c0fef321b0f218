import Groundwork
import UserNotifications

/// What the stand-ins of vendors' SDKs have in common. They do what the dialect table says of the
/// vendor's helper, without the vendor's code.
package enum VendorMedia {
  /// A medium that a payload names.
  package struct Medium {
    package var url: String
    package var identifier = ""
    /// The extension of the file, if the payload says more than the URL.
    package var ending: String?

    package init(url: String, identifier: String = "", ending: String? = nil) {
      (self.url, self.identifier, self.ending) = (url, identifier, ending)
    }
  }

  /// Downloads media and attaches them to the content, then calls `done`.
  ///
  /// - Parameter vendor: the module whose place this takes, for the report.
  package static func attach(
    _ media: [Medium], to content: UNMutableNotificationContent, for vendor: String,
    _ done: @escaping @Sendable (UNMutableNotificationContent) -> Void
  ) {
    HostLink.note(.standIn, "\(vendor) is a stand-in of attache's: it downloads and attaches what the vendor's SDK would, and nothing else")
    nonisolated(unsafe) let content = content
    guard let medium = media.first, let url = URL(string: medium.url) else { return done(content) }
    let rest = Array(media.dropFirst())
    URLSession.shared.downloadTask(with: url) { file, response, _ in
      if let file, let attachment = attachment(file, response, medium, url) { content.attachments.append(attachment) }
      if rest.isEmpty { done(content) } else { attach(rest, to: content, for: vendor, done) }
    }.resume()
  }

  private static func attachment(_ file: URL, _ response: URLResponse?, _ medium: Medium, _ url: URL) -> UNNotificationAttachment? {
    guard (response as? HTTPURLResponse).map({ 200..<300 ~= $0.statusCode }) ?? true else { return nil }
    let type = response?.mimeType.flatMap { FileType(mime: $0) }
    let ending = medium.ending ?? (url.pathExtension.isEmpty ? type?.extensions.first ?? "" : url.pathExtension)
    let place = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).appendingPathExtension(ending)
    do {
      try FileManager.default.moveItem(at: file, to: place)
      return try UNNotificationAttachment(identifier: medium.identifier, url: place)
    } catch {
      try? FileManager.default.removeItem(at: place)
      return nil
    }
  }
}
