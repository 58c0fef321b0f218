@testable import Attache

extension PayloadReader {
  /// Parses a line inside a larger buffer. The bytes after it would change the result if they were
  /// read.
  func read(_ line: [UInt8]) -> Reading {
    let following = Array(#"}],"aps":1}"#.utf8)
    let buffer = line + following + [UInt8](repeating: UInt8(ascii: "\""), count: max(0, Self.padding - following.count))
    return unsafe buffer.withUnsafeBytes { bytes in
      unsafe read(UnsafeRawBufferPointer(rebasing: bytes[..<line.count]))
    }
  }

  func read(_ line: String) -> Reading {
    read(Array(line.utf8))
  }
}

extension Reading {
  /// The payload of a line, if any.
  var candidate: Payload? {
    candidates.count == 1 ? candidates[0] : nil
  }

  var candidates: [Payload] {
    if case .candidates(let payloads) = self { payloads } else { [] }
  }

  /// The reason why the line passes through; nil for a candidate, and for a line with nothing to
  /// attach.
  var reason: Reason? {
    switch self {
    case .passthrough(_, let reason, _): reason
    case .unopened: .payloadEnvelope
    case .invalid(let reason): reason
    case .candidates: nil
    }
  }

  /// The kind of push of a line that is not a candidate.
  var kind: PushKind? {
    switch self {
    case .passthrough(let kind, _, _): kind
    case .unopened: .nothing
    case .invalid, .candidates: nil
    }
  }
}

extension Payload {
  var urls: [String] { references.map(\.url.string) }

  /// The line with an inserted member, and with the texts of the vendor's helper.
  func enrich(_ line: String, with member: String) -> String {
    var payload = self
    _ = payload.apply(overrides, in: Segment(line))
    return String(decoding: LineEdit.apply(payload.edits + splice.edits(with: Array(member.utf8)), to: line.utf8), as: UTF8.self)
  }

  /// The content of a payload of the line.
  func content(of line: String) -> NotificationContent {
    content(in: Segment(line))
  }

  /// The content without the user info.
  func shown(of line: String) -> NotificationContent {
    var content = content(of: line)
    content.userInfo = [:]
    return content
  }
}

/// A payload that every rule accepts, with more members after `aps`.
func candidateLine(_ members: String = "") -> String {
  #"{"aps":{"alert":{"title":"Hi","body":"There"},"mutable-content":1}\#(members.isEmpty ? "" : ",")\#(members)}"#
}

extension Reading {
  /// The reading without what is known about the line beside its reason.
  var withoutCause: Reading {
    if case .passthrough(let kind, let reason, _) = self { .passthrough(kind, reason) } else { self }
  }
}
