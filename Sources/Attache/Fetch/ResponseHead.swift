/// What the header lines of a response say, as far as acceptance, redirects and retries need it.
///
/// Filled line by line as the transport hands the lines over; counted here, since libcurl's own bounds are looser.
package struct ResponseHead: Sendable {
  /// Bytes of all header lines of one response, trailers included: twice what nginx takes from a peer by default is far more than media needs.
  static let maximumBytes = 128 * 1024
  /// Header lines of one response, trailers included; the bound that browsers and proxies of the field use is 100 to 256.
  static let maximumLines = 256

  /// 0 until a status line has come.
  package private(set) var status = 0
  /// The digits of every Content-Length, as sent.
  package private(set) var contentLengths: [String] = []
  package private(set) var transferEncodings: [String] = []
  package private(set) var contentEncodings: [String] = []
  package private(set) var locations: [[UInt8]] = []
  package private(set) var contentRange: String?
  package private(set) var entityTag: String?
  package private(set) var acceptsRanges = true
  private(set) var hasRetryAfter = false
  /// Whether a field goes on in a further line, has a blank in its name, or holds a CR: readers differ about it (RFC 9112, 2.2, 5.1 and 5.2).
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

  /// What a line comes to that is no field: no HTTP at all before a status, and a redirect that nobody can read is not followed.
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
    if content.isEmpty {
      isComplete = status >= 200
      expectsStatus = !isComplete
    } else if !isComplete {
      read(content)
    }
    return true
  }

  private mutating func read(_ content: ArraySlice<UInt8>) {
    if expectsStatus, let status = Self.status(of: content) {
      return restart(with: status, isHTTP10: content.starts(with: "HTTP/1.0".utf8))
    }
    if content.first?.isBlank == true || content.contains(UInt8(ascii: "\r")) { isAmbiguous = true }
    guard let colon = content.firstIndex(of: UInt8(ascii: ":")) else { return }
    if content[..<colon].contains(where: \.isBlank) { isAmbiguous = true }
    let name = String(decoding: content[..<colon].trimmingBlanks, as: UTF8.self).lowercased()
    setField(name, to: content[content.index(after: colon)...].trimmingBlanks)
  }

  /// A line that begins `HTTP/` starts a new response: after an interim one (1xx) it is the next.
  private static func status(of line: ArraySlice<UInt8>) -> Int? {
    guard line.starts(with: "HTTP/".utf8) else { return nil }
    let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
    guard fields.count >= 2 else { return nil }
    return Int(String(decoding: fields[1], as: UTF8.self))
  }

  private mutating func restart(with status: Int, isHTTP10: Bool) {
    let (bytes, lines) = (bytes, lines)
    self = ResponseHead()
    (self.status, self.isHTTP10, self.bytes, self.lines, expectsStatus) = (status, isHTTP10, bytes, lines, false)
  }

  private mutating func setField(_ name: String, to value: ArraySlice<UInt8>) {
    let text = String(decoding: value, as: UTF8.self)
    switch name {
    case "content-length": contentLengths.append(text)
    case "transfer-encoding": transferEncodings.append(text.lowercased())
    case "content-encoding": contentEncodings.append(text.lowercased())
    case "location": locations.append(Array(value))
    case "content-range": contentRange = text
    case "etag": entityTag = text
    case "accept-ranges": acceptsRanges = text.lowercased() != "none"
    case "retry-after": hasRetryAfter = true
    default: break
    }
  }
}

extension UnsafeRawBufferPointer {
  /// A copy of a line without its LF and one CR before it.
  fileprivate var withoutEnding: ArraySlice<UInt8> {
    var line = unsafe Array(self)[...]
    if line.last == UInt8(ascii: "\n") { line.removeLast() }
    if line.last == UInt8(ascii: "\r") { line.removeLast() }
    return line
  }
}

extension ArraySlice<UInt8> {
  /// The bytes between the blanks at both ends (RFC 9110, section 5.6.3: OWS).
  var trimmingBlanks: ArraySlice<UInt8> {
    let trimmed = drop(while: \.isBlank)
    guard let last = trimmed.lastIndex(where: { !$0.isBlank }) else { return [] }
    return trimmed[...last]
  }
}

extension UInt8 {
  fileprivate var isBlank: Bool { self == 0x20 || self == 0x09 }
}
