/// What is to be done about a response, decided from its headers alone, before any of its body is
/// looked at.
enum ResponseVerdict: Equatable, Sendable {
  /// The body is wanted: from its first byte, or from where an earlier one broke off.
  case body(length: Int?, resumes: Bool)
  /// What was asked about has not changed (RFC 9110, 15.4.5).
  case unchanged
  /// Another place is named.
  case redirect(location: [UInt8])
  /// It is not wanted.
  case refuse(Reason)
  /// It is not wanted, but a further try may bring one that is.
  case retry(Reason)
}

/// The one place that decides whether a response is accepted: `CURLE_OK` is not success.
///
/// libcurl 7.88.1 answers OK for a Content-Length it cannot read, for two that differ, and for 206.
enum Acceptance {
  /// Judges a complete head.
  ///
  /// - Parameters:
  ///   - offset: what was asked for with a Range header, 0 when nothing was.
  ///   - validator: the entity tag of what came before the offset; a part that says it is of
  ///     another file does not belong to it
  ///     (RFC 9110, 15.3.7.3).
  ///   - isConditional: whether the file was asked for only if it has changed.
  static func judge(_ head: ResponseHead, resumingFrom offset: Int, validator: String? = nil, isConditional: Bool = false)
    -> ResponseVerdict
  {
    switch head.status {
    case 200: body(head, from: 0)
    case 206 where offset > 0 && head.entityTag != nil && head.entityTag != validator.map { UntrustedText($0) }: .refuse(.httpFraming)
    case 206 where offset > 0: body(head, from: offset)
    case 304 where isConditional: head.isAmbiguous ? .refuse(head.mistakeInLine) : .unchanged
    case 301, 302, 303, 307, 308: redirect(head)
    default: Reason.httpStatus.isRetryable(status: head.status) ? .retry(.httpStatus) : .refuse(.httpStatus)
    }
  }

  private static func body(_ head: ResponseHead, from offset: Int) -> ResponseVerdict {
    guard !head.isAmbiguous else { return .refuse(head.mistakeInLine) }
    guard head.contentEncodings.allSatisfy({ $0 == "identity" || $0.isEmpty }) else { return .refuse(.httpEncoding) }
    guard let framing = framing(head) else { return .refuse(.httpFraming) }
    guard offset > 0 else { return .body(length: framing.length, resumes: false) }
    guard let range = ContentRange(head.contentRange ?? ""), range.first == offset,
      framing.length == nil || framing.length == range.last - range.first + 1, range.total == range.last + 1
    else { return .refuse(.httpFraming) }
    return .body(length: range.total, resumes: true)
  }

  private struct Framing {
    /// nil when the body is chunked or ends with the connection.
    var length: Int?
  }

  /// - Returns: nil when the headers contradict each other or name a coding other than chunked (RFC
  ///   9112, sections 6.1 and 6.3).
  private static func framing(_ head: ResponseHead) -> Framing? {
    if !head.transferEncodings.isEmpty {
      // A length beside chunks counts for nothing (RFC 9112, 6.3), as curl and browsers read it;
      // the connection does not serve again.
      return head.isChunked && head.contentLengths.count <= 1 && !head.isHTTP10 ? Framing() : nil
    }
    guard let first = head.contentLengths.first else { return Framing() }
    guard head.contentLengths.count == 1, let length = decimal(first.string) else { return nil }
    return Framing(length: length)
  }

  private static func redirect(_ head: ResponseHead) -> ResponseVerdict {
    guard !head.isAmbiguous else { return .refuse(head.mistakeInLine) }
    guard let location = head.locations.first, !location.isEmpty else { return .refuse(.httpStatus) }
    return head.locations.count == 1 ? .redirect(location: location) : .refuse(.httpRedirect)
  }

  /// Digits and nothing else: Swift's own initialiser would take a sign.
  static func decimal(_ text: some StringProtocol) -> Int? {
    text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int(text) : nil
  }
}

/// `bytes FIRST-LAST/TOTAL` (RFC 9110, section 14.4).
struct ContentRange: Equatable, Sendable {
  var first, last, total: Int

  init?(_ text: UntrustedText) {
    guard text.starts(with: "bytes ") else { return nil }
    let fields = text.utf8.dropFirst(6).split(omittingEmptySubsequences: false) { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "/") }
    guard fields.count == 3, let first = Acceptance.decimal(Substring(fields[0])), let last = Acceptance.decimal(Substring(fields[1])),
      let total = Acceptance.decimal(Substring(fields[2])), first <= last, last < total
    else { return nil }
    (self.first, self.last, self.total) = (first, last, total)
  }
}
