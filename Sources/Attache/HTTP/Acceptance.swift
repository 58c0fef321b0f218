/// The decision on a response, made from its headers alone, before its body is read.
enum ResponseVerdict: Equatable, Sendable {
  /// The body is accepted, from its first byte or from where an earlier body broke off.
  case body(length: Int?, resumes: Bool)
  /// The file has not changed (RFC 9110, 15.4.5).
  case unchanged
  /// The response redirects to another location.
  case redirect(location: [UInt8])
  /// The response is refused. The detail is the coding of its body, if that is why.
  case refuse(Reason, detail: String? = nil)
  /// The response is refused, but a retry may succeed.
  case retry(Reason)
}

/// Decides whether a response is accepted. No other code decides this: `CURLE_OK` is not success.
///
/// libcurl 7.88.1 returns `CURLE_OK` for an unreadable Content-Length, for two different ones, and
/// for 206.
enum Acceptance {
  /// Decides on a complete head.
  ///
  /// - Parameters:
  ///   - offset: the offset in the Range header of the request; 0 when there was none.
  ///   - validator: the entity tag of the bytes before the offset. A partial response with another
  ///     tag belongs to another file (RFC 9110, 15.3.7.3).
  ///   - isConditional: whether the request asked for the file only if it has changed.
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
    if let coding = head.contentEncodings.lazy.compactMap(ContentCoding.named).first { return .refuse(.httpEncoding, detail: coding) }
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

  /// - Returns: nil when the headers contradict each other or name a transfer coding other than
  ///   chunked (RFC 9112, sections 6.1 and 6.3).
  private static func framing(_ head: ResponseHead) -> Framing? {
    if !head.transferEncodings.isEmpty {
      // A Content-Length is ignored when the body is chunked (RFC 9112, 6.3), as in curl and
      // browsers. The connection is not reused.
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

  /// Parses decimal digits only. Swift's own initialiser would accept a sign.
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
