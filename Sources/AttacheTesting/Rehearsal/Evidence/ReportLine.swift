internal import FoundationEssentials

/// A line of a report, with the names and numbers as the file has them. ``ReportedLine`` has their
/// meanings.
package struct ReportLine: Decodable, Hashable, Sendable {
  package struct Medium: Decodable, Hashable, Sendable {
    package var url: String
    package var reason: String?
    package var explanation: String?
    package var status: Int?
    package var bytes: Int
    package var cache: String?
    package var type: String?
    package var attempts: Int
    package var totalMs: Double?
    package var converted: Converted?
  }

  /// The file that a conversion made.
  package struct Converted: Decodable, Hashable, Sendable {
    package var size: Int
  }

  package var line: Int
  package var outcome: String
  package var reason: String?
  package var dialect: String?
  /// Nil in another filter's report, which may lack it.
  package var placeWaitMs: Double?
  package var elapsedMs: Double?
  /// Nil when the line was never written.
  package var latenessMs: Double?
  package var media: [Medium]
  package var omitted: Int?
  package var changed: [String]?
  package var why: String?
  // Only a rehearsal's.
  package var scenario: String?
  package var expected: String?
  package var deviations: [String]?

  /// Parses a line, with or without its line feed.
  package init(parsing text: some Collection<UInt8>) throws {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    self = try decoder.decode(Self.self, from: Data(text))
  }
}
