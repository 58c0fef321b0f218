import Attache
import Foundation

/// The meaning of each word of expectation, from Fixtures/vectors/expectations.json.
struct VectorTable: Decodable, Sendable {
  /// The expected result of a payload.
  struct Answer: Decodable, Hashable, Sendable {
    var outcome: Outcome
    /// Nil if attached, or if there was nothing to do.
    var reason: Reason?

    private enum CodingKeys: String, CodingKey {
      case outcome, reason
    }

    /// Null means attached, a text is the reason of a fallback, and an object has outcome and
    /// reason.
    init(from decoder: any Decoder) throws {
      let value = try decoder.singleValueContainer()
      if value.decodeNil() {
        outcome = .attached
      } else if let code = try? value.decode(String.self) {
        (outcome, reason) = (.fallback, try Self.known(code, in: value))
      } else {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        outcome = try Self.known(try members.decode(String.self, forKey: .outcome), in: value)
        reason = try members.decodeIfPresent(String.self, forKey: .reason).map { try Self.known($0, in: value) }
      }
    }

    private static func known<Value: RawRepresentable<String>>(_ text: String, in value: any SingleValueDecodingContainer) throws -> Value {
      guard let known = Value(rawValue: text) else {
        throw DecodingError.dataCorruptedError(in: value, debugDescription: "\(text) is no \(Value.self)")
      }
      return known
    }
  }

  private let answers: [String: Answer]

  init(from decoder: any Decoder) throws {
    answers = try decoder.singleValueContainer().decode([String: Answer].self)
  }

  subscript(word: String) -> Answer? { answers[word] }

  static func read() throws -> VectorTable {
    try JSONDecoder().decode(VectorTable.self, from: Data(contentsOf: URL(filePath: Vector.folder + "/expectations.json")))
  }
}
