import Foundation
import Testing

/// Metrics in the text format of Prometheus, by their names with the labels.
struct Figures {
  let values: [String: Double]

  init(_ text: String) {
    let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
    let pairs = lines.compactMap { line in
      line.lastIndex(of: " ").map { (String(line[..<$0]), Double(line[line.index(after: $0)...]) ?? .nan) }
    }
    values = Dictionary(uniqueKeysWithValues: pairs)
  }

  init(file: String) throws {
    self.init(try String(contentsOfFile: file, encoding: .utf8))
  }

  subscript(name: String) -> Double? { values[name] }

  /// Polls a running program until its metrics satisfy the condition.
  static func of(_ port: UInt16, until isSo: (Figures) -> Bool) async throws -> Figures {
    Figures(try await LoopbackClient.ask(port, "/metrics") { isSo(Figures($0.body)) }.body)
  }
}

extension Program {
  /// The port of `--metrics 0`, once the log names it.
  func figuresPort() async throws -> UInt16 {
    let log = await errors(holding: "/metrics\n")
    let port = try #require(log.firstMatch(of: /metrics at http:\/\/127\.0\.0\.1:(\d+)\/metrics/)?.1)
    return try #require(UInt16(port))
  }
}
