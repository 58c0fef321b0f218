import AttacheTesting
import Testing

@testable import Attache

/// A vector that is a URL, with the answer that the table has for it.
struct URLVector: Sendable, CustomTestStringConvertible {
  var id: String
  var category: String
  var bytes: [UInt8]
  var answer: VectorTable.Answer

  var testDescription: String { id }

  /// Whether a payload can hold the URL: the line must be UTF-8, which JSON is.
  var text: String? { String(validating: bytes, as: UTF8.self) }

  /// Every one of them.
  static let all: [URLVector] = {
    guard let table = try? VectorTable.read(), let vectors = try? Vector.all() else { return [] }
    return vectors.compactMap { vector in
      guard case .url(let bytes) = vector.way, let answer = table[vector.expect] else { return nil }
      return URLVector(id: vector.id, category: vector.category, bytes: bytes, answer: answer)
    }
  }()

  /// Those that a line of JSON can hold.
  static let inText = all.filter { $0.text != nil }
  static let attached = inText.filter { $0.answer.outcome == .attached }
  static let refused = inText.filter { $0.answer.outcome != .attached }

  /// What the gate says.
  func refusal(allowHTTP: Bool = true) -> Refusal? {
    do throws(Refusal) {
      _ = try URLGate(URLPolicy(allowHTTP: allowHTTP)).check(bytes[...])
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
    // Braces of a URL are no placeholders of a scenario's.
    let text = escaped.joined().replacing("{{", with: "{{braces}}")
    return #"{"aps":{"alert":"Hello","mutable-content":1},"picture":"\#(text)"}"#
  }

  /// What must become of it: a line beyond 1 MiB passes, as the design says, whatever it holds.
  var expected: ScenarioExpectation.OfPayload {
    if payload.utf8.count > 1 << 20 { return .init(outcome: .passthrough, reason: .payloadSize) }
    return .init(outcome: answer.outcome, reason: answer.reason)
  }

  /// A scenario of these payloads, in a network of its own.
  static func scenario(_ name: String, _ vectors: [URLVector]) -> Scenario {
    var scenario = Scenario(name: name, file: "\(name).yaml", payloads: vectors.map(\.payload))
    scenario.network = .isolated
    scenario.flags = ["--media-key", "picture"]
    scenario.deadline = .seconds(10)
    scenario.expectation.payloads = vectors.map(\.expected)
    return scenario
  }
}
