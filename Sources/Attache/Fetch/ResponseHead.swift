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
  /// Whether a field goes on in a further line, which senders must not do and readers may refuse (RFC 9112, section 5.2).
  private(set) var isFolded = false
  /// Whether the empty line has come that ends the headers of a final (not 1xx) response.
  package private(set) var isComplete = false
  private var bytes = 0
  private var lines = 0

  package init() {}

  /// Takes one line with its line ending.
  ///
  /// - Returns: false when the headers are too many or too long.
  package mutating func add(_ line: UnsafeRawBufferPointer) -> Bool {
    bytes += line.count
    lines += 1
    guard bytes <= Self.maximumBytes, lines <= Self.maximumLines else { return false }
    let text = unsafe line.trimmingWhitespace
    if !isComplete, !text.isEmpty, unsafe line[0] == 0x20 || line[0] == 0x09 { isFolded = true }
    if text.isEmpty {
      isComplete = status >= 200
    } else if !isComplete, let status = Self.status(of: text) {
      restart(with: status)
    } else if !isComplete, let colon = text.firstIndex(of: UInt8(ascii: ":")) {
      let name = String(decoding: text[..<colon], as: UTF8.self).lowercased()
      setField(name, to: text[text.index(after: colon)...].trimmingWhitespace)
    }
    return true
  }

  /// A line that begins `HTTP/` starts a new response: after an interim one (1xx) it is the next.
  private static func status(of line: ArraySlice<UInt8>) -> Int? {
    guard line.starts(with: "HTTP/".utf8) else { return nil }
    let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
    guard fields.count >= 2 else { return nil }
    return Int(String(decoding: fields[1], as: UTF8.self))
  }

  private mutating func restart(with status: Int) {
    let (bytes, lines) = (bytes, lines)
    self = ResponseHead()
    (self.status, self.bytes, self.lines) = (status, bytes, lines)
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
  /// A copy without the white space at both ends.
  var trimmingWhitespace: ArraySlice<UInt8> {
    unsafe Array(self)[...].trimmingWhitespace
  }
}

extension ArraySlice<UInt8> {
  /// The bytes between the white space at both ends.
  var trimmingWhitespace: ArraySlice<UInt8> {
    let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
    let trimmed = drop(while: isSpace)
    guard let last = trimmed.lastIndex(where: { !isSpace($0) }) else { return [] }
    return trimmed[...last]
  }
}
