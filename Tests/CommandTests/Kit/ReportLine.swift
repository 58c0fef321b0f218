import Foundation

/// The parts of a report line that tests use.
struct ReportLine: Decodable, Hashable {
  struct Medium: Decodable, Hashable {
    var url: String
    var reason: String?
    var status: Int?
    var bytes: Int
    var cache: String
    var type: String?
    var attempts: Int
  }

  var line: Int
  var outcome: String
  var reason: String?
  var dialect: String?
  var place_wait_ms: Double
  var elapsed_ms: Double
  var lateness_ms: Double
  var media: [Medium]
  var omitted: Int?
  var changed: [String]?
  var why: String?

  static func read(_ path: String) throws -> [ReportLine] {
    let text = try String(contentsOfFile: path, encoding: .utf8)
    return try text.split(separator: "\n").map { try JSONDecoder().decode(ReportLine.self, from: Data($0.utf8)) }
  }
}
