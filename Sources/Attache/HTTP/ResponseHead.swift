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
