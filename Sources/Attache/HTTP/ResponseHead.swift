/// What the header lines of a response say, as far as acceptance, redirects and retries need it.
///
/// Filled line by line as the transport hands the lines over; counted here, since libcurl's own
/// bounds are looser.
package struct ResponseHead: Sendable {
  /// Bytes of all header lines of one response, trailers included, as in Chromium
  /// (kMaxHeaderBufSize of net/http/http_stream_parser.h).
  static let maximumBytes = 256 * 1024
  /// Header lines of one response, trailers included; the bound that browsers and proxies of the
  /// field use is 100 to 256.
  static let maximumLines = 256

  /// 0 until a status line has come.
  package private(set) var status = 0
  /// The digits of every Content-Length, as sent.
  package private(set) var contentLengths: [UntrustedText] = []
  /// In lower case, as the encodings of the content are.
  package private(set) var transferEncodings: [UntrustedText] = []
  package private(set) var contentEncodings: [UntrustedText] = []
  package private(set) var locations: [[UInt8]] = []
  package private(set) var contentRange: UntrustedText?
  package private(set) var entityTag: UntrustedText?
  package private(set) var acceptsRanges = true
  private(set) var caching = CacheFields()
  /// Whether a field goes on in a further line, has a blank in its name, or holds a CR: readers
  /// differ about it (RFC 9112, 2.2, 5.1 and 5.2).
  private(set) var isAmbiguous = false
  /// Whether the status line says HTTP/1.0, which knows no transfer codings.
  private(set) var isHTTP10 = false
  /// Whether the empty line has come that ends the headers of a final (not 1xx) response.
  package private(set) var isComplete = false
  /// Whether a status line comes next: at the start, and behind an interim response (1xx).
  private var expectsStatus = true
  private var bytes = 0
  private var lines = 0

  package init() {}

  /// Whether chunks say where the body ends.
  package var isChunked: Bool { transferEncodings == ["chunked"] }

  /// Whether a length is told beside chunks, which readers may take for the end: nothing else may
  /// be read from such a connection.
  package var hasTwoFramings: Bool { !transferEncodings.isEmpty && !contentLengths.isEmpty }

  /// What a line comes to that is no field: no HTTP at all before a status, and a redirect that
  /// nobody can read is not followed.
  package var mistakeInLine: Reason {
    switch status {
    case 0: .httpProtocol
    case 301, 302, 303, 307, 308: .policyRedirect
    default: .httpFraming
    }
  }

  /// Takes one line with its line ending.
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

  /// A field's name in lower case: up to 15 bytes without an allocation.
  private static func lowercased(_ name: UnsafeRawBufferPointer) -> String {
    unsafe String(unsafeUninitializedCapacity: name.count) { buffer in
      for index in name.indices { unsafe buffer[index] = name[index].lowercasedASCII }
      return name.count
    }
  }

  /// A line that begins `HTTP/` starts a new response: after an interim one (1xx) it is the next.
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
