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
  var candidate: Payload? {
    if case .candidate(let payload) = self { payload } else { nil }
  }

  /// Why the line passes; nil for a candidate, and for a line with nothing to attach.
  var reason: Reason? {
    if case .passthrough(_, let reason) = self { reason } else { nil }
  }

  /// The kind of push of what is no candidate.
  var kind: PushKind? {
    if case .passthrough(let kind, _) = self { kind } else { nil }
  }
}

extension Payload {
  var urls: [String] { references.map(\.url) }

  /// The line with a member spliced in.
  func enrich(_ line: String, with member: String) -> String {
    String(decoding: LineEdit.apply(edits + splice.edits(with: Array(member.utf8)), to: line.utf8), as: UTF8.self)
  }
}

/// A payload that every rule lets through, with more members after `aps`.
func candidateLine(_ members: String = "") -> String {
  #"{"aps":{"alert":{"title":"Hi","body":"There"},"mutable-content":1}\#(members.isEmpty ? "" : ",")\#(members)}"#
}
