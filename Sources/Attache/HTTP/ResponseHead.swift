/// The header lines of a response, as far as acceptance, redirects and retries need them.
///
/// The transport passes the lines one by one. They are counted here, because libcurl's own limits
/// are looser.
package struct ResponseHead: Sendable {
  /// The maximum number of bytes in all header lines of one response, trailers included. Chromium
  /// uses the same limit (kMaxHeaderBufSize of net/http/http_stream_parser.h).
  static let maximumBytes = 256 * 1024
  /// The maximum number of header lines of one response, trailers included. Browsers and proxies
  /// use limits of 100 to 256.
  static let maximumLines = 256

  /// 0 until a status line has arrived.
  package private(set) var status = 0
  /// The value of every Content-Length, as sent.
  package private(set) var contentLengths: [UntrustedText] = []
  /// In lower case, like the content encodings.
  package private(set) var transferEncodings: [UntrustedText] = []
  package private(set) var contentEncodings: [UntrustedText] = []
  package private(set) var locations: [[UInt8]] = []
  package private(set) var contentRange: UntrustedText?
  package private(set) var entityTag: UntrustedText?
  package private(set) var acceptsRanges = true
  private(set) var caching = CacheFields()
  /// Whether a field continues on another line, has a blank in its name, or contains a CR. Parsers
  /// disagree about such fields (RFC 9112, 2.2, 5.1 and 5.2).
  package private(set) var isAmbiguous = false
  /// Whether the status line says HTTP/1.0, which has no transfer codings.
  package private(set) var isHTTP10 = false
  /// Whether the empty line after the headers of a final (not 1xx) response has arrived.
  package private(set) var isComplete = false
  /// Whether a status line comes next: at the start, and after an interim response (1xx).
  private var expectsStatus = true
  private var bytes = 0
  private var lines = 0

  package init() {}

  /// Whether chunks mark the end of the body.
  package var isChunked: Bool { transferEncodings == ["chunked"] }

  /// Whether the response has both a length and a transfer coding. Some parsers take the length as
  /// the end of the body, so the connection must not be reused.
  package var hasTwoFramings: Bool { !transferEncodings.isEmpty && !contentLengths.isEmpty }

  /// The reason for a line that is not a field. Before a status line, the response is not HTTP. A
  /// redirect that cannot be parsed is not followed.
  package var mistakeInLine: Reason {
    switch status {
    case 0: .httpProtocol
    case 301, 302, 303, 307, 308: .policyRedirect
    default: .httpFraming
    }
  }

  /// Parses one line with its line ending.
  ///
  /// - Returns: false when the headers are too many or too long.
  package mutating func add(_ line: UnsafeRawBufferPointer) -> Bool {
    bytes += line.count
    lines += 1
    guard bytes <= Self.maximumBytes, lines <= Self.maximumLines else { return false }
    let content = unsafe line.withoutEnding
    if unsafe content.isEmpty {
      isComplete = status >= 200
      expectsStatus = !isComplete
    } else if !isComplete {
      unsafe read(content)
    }
    return true
  }

  private mutating func read(_ content: UnsafeRawBufferPointer) {
    if expectsStatus, let status = unsafe Self.status(of: content) {
      return unsafe restart(with: status, isHTTP10: content.starts(with: "HTTP/1.0".utf8))
    }
    if unsafe content.first?.isBlank == true || content.contains(UInt8(ascii: "\r")) { isAmbiguous = true }
    guard let colon = unsafe content.firstIndex(of: UInt8(ascii: ":")) else { return }
    let name = unsafe UnsafeRawBufferPointer(rebasing: content[..<colon])
    if unsafe name.contains(where: \.isBlank) { isAmbiguous = true }
    unsafe setField(Self.lowercased(name.trimmingBlanks), to: UnsafeRawBufferPointer(rebasing: content[(colon + 1)...]).trimmingBlanks)
  }

  /// Returns a field's name in lower case. Allocates nothing for up to 15 bytes.
  private static func lowercased(_ name: UnsafeRawBufferPointer) -> String {
    unsafe String(unsafeUninitializedCapacity: name.count) { buffer in
      for index in name.indices { unsafe buffer[index] = name[index].lowercasedASCII }
      return name.count
    }
  }

  /// Parses the status of a line that begins with `HTTP/`, or returns nil. Such a line starts a new
  /// response, for example after an interim one (1xx).
  private static func status(of line: UnsafeRawBufferPointer) -> Int? {
    guard unsafe line.starts(with: "HTTP/".utf8) else { return nil }
    let fields = unsafe line.split(separator: UInt8(ascii: " "), maxSplits: 2)
    guard unsafe fields.count >= 2 else { return nil }
    return unsafe Int(String(decoding: fields[1], as: UTF8.self))
  }

  private mutating func restart(with status: Int, isHTTP10: Bool) {
    let (bytes, lines) = (bytes, lines)
    self = ResponseHead()
    (self.status, self.isHTTP10, self.bytes, self.lines, expectsStatus) = (status, isHTTP10, bytes, lines, false)
  }

  private mutating func setField(_ name: String, to value: UnsafeRawBufferPointer) {
    var text: UntrustedText { unsafe UntrustedText(decoding: value) }
    switch name {
    case "content-length": contentLengths.append(text)
    case "transfer-encoding": transferEncodings.append(text.lowercasedASCII)
    case "content-encoding": contentEncodings.append(text.lowercasedASCII)
    case "location": locations.append(unsafe Array(value))
    case "content-range": contentRange = text
    case "etag":
      caching.tagsDiffer = caching.tagsDiffer || entityTag != nil && entityTag != text
      entityTag = text
    case "accept-ranges": acceptsRanges = text.lowercasedASCII != "none"
    case "cache-control", "age", "date", "expires", "last-modified", "vary": unsafe caching.add(name, value)
    default: break
    }
  }
}

extension UnsafeRawBufferPointer {
  /// A line without its LF and one CR before it.
  fileprivate var withoutEnding: UnsafeRawBufferPointer {
    var count = count
    if count > 0, unsafe self[count - 1] == UInt8(ascii: "\n") { count -= 1 }
    if count > 0, unsafe self[count - 1] == UInt8(ascii: "\r") { count -= 1 }
    return unsafe UnsafeRawBufferPointer(rebasing: prefix(count))
  }

  /// The bytes between the blanks at both ends (RFC 9110, section 5.6.3: OWS).
  fileprivate var trimmingBlanks: UnsafeRawBufferPointer {
    var range = 0..<count
    while let first = range.first, unsafe self[first].isBlank { range.removeFirst() }
    while let last = range.last, unsafe self[last].isBlank { range.removeLast() }
    return unsafe UnsafeRawBufferPointer(rebasing: self[range])
  }
}

extension UInt8 {
  /// Whether the byte is a blank between words of a header (RFC 9110, section 5.6.3: OWS).
  var isBlank: Bool { self == 0x20 || self == 0x09 }
}

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
