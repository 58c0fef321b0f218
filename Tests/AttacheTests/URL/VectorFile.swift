import Foundation
import Testing

@testable import Attache

/// A case of `Vectors/urls.json`: a URL, and the reason for its refusal or its normalised text.
struct URLVector: Decodable, Sendable, CustomTestStringConvertible {
  let name: String
  /// The URL, as text or as hexadecimal bytes.
  let url: String?
  let hex: String?
  /// The text that is appended this many times, and the text after it.
  let repeated: String?
  let times: Int?
  let end: String?
  let refused: String?
  let passed: String?

  var testDescription: String { name }

  var bytes: [UInt8] {
    var bytes = hex.map(bytesOfHex) ?? Array((url ?? "").utf8)
    for _ in 0..<(times ?? 0) { bytes += Array((repeated ?? "").utf8) }
    return bytes + Array((end ?? "").utf8)
  }
}

/// A case of `Vectors/redirects.json`: a Location, and the reason for its refusal or the URL to
/// which it leads.
struct RedirectVector: Decodable, Sendable, CustomTestStringConvertible {
  let name: String
  let from: String
  let location: String?
  let hex: String?
  let refused: String?
  let passed: String?

  var testDescription: String { name }

  var bytes: [UInt8] { hex.map(bytesOfHex) ?? Array((location ?? "").utf8) }
}

/// Reads the cases of a file beside the tests.
func vectors<Vector: Decodable>(_ file: String) throws -> [Vector] {
  let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Vectors")
  return try JSONDecoder().decode([Vector].self, from: Data(contentsOf: folder.appending(path: file)))
}

private func bytesOfHex(_ hex: String) -> [UInt8] {
  let digits = Array(hex)
  return stride(from: 0, to: digits.count - 1, by: 2).compactMap { UInt8(String(digits[$0...($0 + 1)]), radix: 16) }
}

/// The refusal that `body` throws, or nil.
func refusal<Result>(_ body: () throws(Refusal) -> Result) -> Refusal? {
  do {
    _ = try body()
    return nil
  } catch {
    return error
  }
}
