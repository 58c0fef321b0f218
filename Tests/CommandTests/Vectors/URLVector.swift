import AttacheTesting
import Testing

@testable import Attache

/// A vector that is a URL, with its expected answer.
struct URLVector: Sendable, CustomTestStringConvertible {
  var id: String
  var category: String
  var bytes: [UInt8]
  var answer: VectorTable.Answer

  var testDescription: String { id }

  /// Whether a payload can contain the URL. The line must be UTF-8, as JSON is.
  var text: String? { String(validating: bytes, as: UTF8.self) }

  /// All URL vectors.
  static let all: [URLVector] = {
    guard let table = try? VectorTable.read(), let vectors = try? Vector.all() else { return [] }
    return vectors.compactMap { vector in
      guard case .url(let bytes) = vector.way, let answer = table[vector.expect] else { return nil }
      return URLVector(id: vector.id, category: vector.category, bytes: bytes, answer: answer)
    }
  }()

  /// The URL vectors that a JSON line can contain.
  static let inText = all.filter { $0.text != nil }
  static let attached = inText.filter { $0.answer.outcome == .attached }
  static let refused = inText.filter { $0.answer.outcome != .attached }

  /// The URL that a payload with the text names.
  var url: [UInt8] { text.map { Array(UntrustedText($0).asURL.utf8) } ?? bytes }

  /// The answer of the gate.
  func refusal(allowHTTP: Bool = true) -> Refusal? {
    do throws(Refusal) {
      _ = try URLGate(URLPolicy(allowHTTP: allowHTTP)).check(url[...])
      return nil
    } catch {
      return error
    }
  }
}

extension URLVector {
  /// A payload that names the URL.
  var payload: String {
    let escaped = (text ?? "").unicodeScalars.map { scalar in
      switch scalar {
      case "\"", "\\": "\\\(scalar)"
      case _ where scalar.value < 0x20: "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
      default: String(scalar)
      }
    }
    // Braces in a URL are not placeholders of a scenario.
    let text = escaped.joined().replacing("{{", with: "{{braces}}")
    return #"{"aps":{"alert":"Hello","mutable-content":1},"picture":"\#(text)"}"#
  }

  /// The expected result. By design, a line of more than 1 MiB passes through, whatever it
  /// contains.
  var expected: ScenarioExpectation.OfPayload {
    if payload.utf8.count > 1 << 20 { return .init(outcome: .passthrough, reason: .payloadSize) }
    return .init(outcome: answer.outcome, reason: answer.reason)
  }

  /// A scenario with these payloads, in an isolated network.
  static func scenario(_ name: String, _ vectors: [URLVector]) -> Scenario {
    var scenario = Scenario(name: name, file: "\(name).yaml", payloads: vectors.map(\.payload))
    scenario.network = .isolated
    scenario.flags = ["--media-key", "picture"]
    scenario.deadline = .seconds(10)
    scenario.expectation.payloads = vectors.map(\.expected)
    return scenario
  }
}
