/// What distinguishes payloads with one reason, so that the log gives an example of each.
enum ExplanationDetail: Hashable {
  /// The status of the response.
  case status(Int)
  /// The kind of the mistake in the JSON.
  case mistake(JSONMistake.Cause)
  /// The place of a payload that nothing reads.
  case place(JSONPointer)
  /// The place of the text that nothing reads, and why; of a slip, without what it quotes.
  case unread(JSONPointer, UnreadMedia.Cause)
  /// The causes with these names, which have one sentence each: a producer may send nothing else, and a text would be copied for
  /// each line.
  case dataMessage, foreign, liveActivity
  /// The explanation, without the numbers and quotations in it.
  case text([UInt8])

  /// The detail of a line's cause.
  init(_ cause: LineCause) {
    switch cause {
    case .json(let mistake): self = .mistake(mistake.cause)
    case .envelope(let envelope): self = .text(Self.general(envelope.why))
    case .unread(let media):
      if case .slip(let fault) = media.cause {
        self = .unread(media.place, .slip(String(decoding: Self.general(fault), as: UTF8.self)))
      } else {
        self = .unread(media.place, media.cause)
      }
    case .nested(let place): self = .place(place)
    case .blank, .noPayload, .noAlert, .noFlag, .wrongFlag: self = .text(Array(cause.text.utf8))
    case .dataMessage: self = .dataMessage
    case .foreign: self = .foreign
    case .liveActivity: self = .liveActivity
    case .tooLarge: self = .text(Self.general(cause.text))
    }
  }

  /// The detail of a medium's failure; nil if its reason alone says what happened, or if its
  /// explanation names a host.
  init?(_ medium: MediaRecord) {
    guard let reason = medium.reason else { return nil }
    if reason == .httpStatus, let status = medium.status {
      self = .status(status)
    } else if let explanation = medium.explanation, reason.isOfPayload || reason.isOfFile {
      self = .text(Self.general(explanation))
    } else {
      return nil
    }
  }

  private static func general(_ text: String) -> [UInt8] {
    let bytes = Array(text.utf8)
    let mark = UInt8(ascii: "'")
    // What is quoted may contain the mark itself, so it ends with the last one.
    let start = bytes.indices.first { bytes[$0] == mark && ($0 == 0 || bytes[$0 - 1] == UInt8(ascii: " ")) }
    let end = start.flatMap { start in bytes.lastIndex(of: mark).flatMap { $0 > start ? $0 : nil } }
    return bytes.indices.filter { index in
      guard let start, let end, index > start, index <= end else { return bytes[index].decimalDigit == nil }
      return false
    }.map { bytes[$0] }
  }
}

extension Reason {
  /// Whether what the payload says is refused, which the explanation quotes.
  fileprivate var isOfPayload: Bool { self == .payloadForm || self == .policyURL || self == .policyScheme }
  /// Whether the file, its conversion or the origin's certificate is refused.
  fileprivate var isOfFile: Bool { ["type.", "convert.", "tls."].contains(where: rawValue.hasPrefix) }
}
