import Foundation

/// The member that an enriched line has gained.
struct Enriched: Decodable {
  struct Member: Decodable {
    var attachments: [Attachment]
  }

  struct Attachment: Decodable {
    var identifier: String
    var url: String
    var type: String
    var size: Int
    var sha256: String
    var source: String
  }

  var attache: Member

  /// The attachments of a line; empty if it has no member.
  static func attachments(_ line: some StringProtocol) -> [Attachment] {
    (try? JSONDecoder().decode(Enriched.self, from: Data(line.utf8)))?.attache.attachments ?? []
  }
}
