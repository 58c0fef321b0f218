import Attache

extension PayloadReader {
  /// Reads a line out of a larger buffer: what follows it there is tempting, and must not matter.
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
  /// The payload of a line that has one.
  var candidate: Payload? {
    candidates.count == 1 ? candidates[0] : nil
  }

  var candidates: [Payload] {
    if case .candidates(let payloads) = self { payloads } else { [] }
  }

  /// Why the line passes; nil for a candidate, and for a line with nothing to attach.
  var reason: Reason? {
    switch self {
    case .passthrough(_, let reason): reason
    case .unopened: .payloadEnvelope
    case .invalid(let reason): reason
    case .candidates: nil
    }
  }

  /// The kind of push of what is no candidate.
  var kind: PushKind? {
    switch self {
    case .passthrough(let kind, _): kind
    case .unopened: .nothing
    case .invalid, .candidates: nil
    }
  }
}

extension Payload {
  var urls: [String] { references.map(\.url.string) }

  /// The line with a member spliced in.
  func enrich(_ line: String, with member: String) -> String {
    String(decoding: LineEdit.apply(edits + splice.edits(with: Array(member.utf8)), to: line.utf8), as: UTF8.self)
  }
}

/// A payload that every rule lets through, with more members after `aps`.
func candidateLine(_ members: String = "") -> String {
  #"{"aps":{"alert":{"title":"Hi","body":"There"},"mutable-content":1}\#(members.isEmpty ? "" : ",")\#(members)}"#
}
