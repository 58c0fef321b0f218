internal import Attache

/// Reads a response as libcurl 7.88.1 does and reports to the owner. It decides which bytes it
/// accepts, where the response ends, and which failure it reports.
struct ResponseReader {
  enum Step {
    /// More bytes are needed.
    case hungry
    /// The owner does not accept more bytes now.
    case paused
    /// The owner does not accept any more bytes.
    case stopped
    /// The whole response has been read.
    case complete
    case failed(Reason)
  }

  private enum Part {
    case head
    case body(left: Int)
    /// Reads to the end of the connection or stream.
    case untilEnd
    case chunks(ChunkedBody)
    case complete
  }

  /// The maximum number of bytes that libcurl delivers at a time (CURL_MAX_WRITE_SIZE).
  private static let pieceSize = 16 * 1024
  /// The maximum length of a header line (DYN_HAXPROXY and CURL_MAX_HTTP_HEADER of 7.88.1).
  private static let maximumLine = 100 * 1024

  /// Whether HTTP/2 frames mark the end of the body.
  private let isStream: Bool
  private var part = Part.head
  private var input: [UInt8] = []
  private var offset = 0
  private var isInsideHead = false
  private(set) var head = ResponseHead()
  /// The number of body bytes received.
  private(set) var bodyCount = 0
  /// Whether any bytes have arrived.
  private(set) var hasBegun = false
  /// Whether the origin announced that it will close the connection.
  private(set) var announcesClose = false
  private(set) var retryAfter: Duration?

  init(isStream: Bool) {
    self.isStream = isStream
  }

  mutating func append(_ bytes: [UInt8]) {
    hasBegun = hasBegun || !bytes.isEmpty
    input.removeFirst(offset)
    offset = 0
    input += bytes
  }

  /// Whether bytes remain that belong to no response.
  var hasSurplus: Bool {
    offset < input.count
  }

  mutating func read(for owner: (any TransferOwner)?) -> Step {
    while true {
      switch part {
      case .head:
        if let step = readHeadLine(for: owner) { return step }
      case .body(let left):
        if left == 0 { part = .complete } else if let step = readBody(left, for: owner, then: { .body(left: $0) }) { return step }
      case .untilEnd:
        if let step = readBody(.max, for: owner, then: { _ in .untilEnd }) { return step }
      case .chunks(let chunks):
        if let step = read(chunks, for: owner) { return step }
      case .complete: return .complete
      }
    }
  }

  /// Returns libcurl's failure for a connection that ends here; nil when libcurl sees no error.
  func failure(atEndByReset isReset: Bool) -> Reason? {
    switch part {
    case .head: isReset || !isInsideHead && head.status == 0 ? .connectReset : nil
    case .untilEnd: isReset ? .httpTruncated : nil
    case .body, .chunks: .httpTruncated
    case .complete: nil
    }
  }

  // MARK: The head

  private mutating func readHeadLine(for owner: (any TransferOwner)?) -> Step? {
    guard isInsideHead || looksLikeHTTP else { return .failed(.httpProtocol) }
    guard let line = nextLine() else { return input.count - offset > Self.maximumLine ? .failed(.httpHeaders) : .hungry }
    guard line.count <= Self.maximumLine else { return .failed(.httpHeaders) }
    guard isInsideHead || Self.isStatusLine(line) else { return .failed(.httpProtocol) }
    isInsideHead = true
    guard note(line) else { return .failed(head.mistakeInLine) }
    guard unsafe line.withUnsafeBytes({ unsafe head.add($0) }) else { return .failed(.httpHeaders) }
    guard line.trimmed.isEmpty else { return nil }
    // Another response follows an interim one.
    isInsideHead = head.isComplete
    guard head.isComplete else { return nil }
    part = bodyPart
    return owner?.transferReceivedHead(head) == true ? nil : .stopped
  }

  /// libcurl checks the first bytes even before the line is complete.
  private var looksLikeHTTP: Bool {
    zip(input[offset...], "HTTP/".utf8).allSatisfy { $0 == $1 }
  }

  private static func isStatusLine(_ line: [UInt8]) -> Bool {
    let words = line.trimmed.split(separator: UInt8(ascii: " "))
    guard words.count >= 2, words[1].count == 3, words[1].allSatisfy({ (0x30...0x39).contains($0) }) else { return false }
    return ["HTTP/1.0", "HTTP/1.1", "HTTP/2", "HTTP/2.0"].contains(String(decoding: words[0], as: UTF8.self))
  }

  /// Records the fields that concern the connection and those that only libcurl reads.
  ///
  /// - Returns: false for an invalid length, a line without a colon, and a line with a NUL.
  private mutating func note(_ line: [UInt8]) -> Bool {
    let text = String(decoding: line.trimmed, as: UTF8.self)
    if text.hasPrefix("HTTP/1.0") { announcesClose = true }
    guard !line.contains(0) else { return false }
    guard let colon = text.firstIndex(of: ":") else { return text.isEmpty || text.hasPrefix("HTTP/") }
    let value = text[text.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
    switch text[..<colon].lowercased() {
    case "content-length": return value.first?.isNumber == true
    case "connection": announcesClose = announcesClose || value.lowercased() == "close"
    case "retry-after": retryAfter = Int(value.prefix { $0.isNumber }).map { .seconds($0) }
    default: break
    }
    return true
  }

  private var bodyPart: Part {
    if head.status == 204 || head.status == 304 { return .complete }
    if !isStream, !head.transferEncodings.isEmpty { return .chunks(ChunkedBody()) }
    guard let length = head.contentLengths.last else { return .untilEnd }
    return .body(left: Int(length.string.prefix { $0.isNumber }) ?? 0)
  }

  // MARK: The body

  private mutating func readBody(_ left: Int, for owner: (any TransferOwner)?, then next: (Int) -> Part) -> Step? {
    let count = min(left, Self.pieceSize, input.count - offset)
    guard count > 0 else { return .hungry }
    let verdict = unsafe input[offset..<offset + count].withUnsafeBytes { unsafe owner?.transferReceivedBody($0) ?? .stop }
    switch verdict {
    case .pause: return .paused
    case .stop: return .stopped
    case .take:
      offset += count
      bodyCount += count
      part = next(left == .max ? left : left - count)
      return nil
    }
  }

  /// Reads a piece of a chunked body as ``ChunkedBody`` does after libcurl. If the owner pauses,
  /// the piece is read again later.
  private mutating func read(_ chunks: ChunkedBody, for owner: (any TransferOwner)?) -> Step? {
    let count = min(Self.pieceSize, input.count - offset)
    guard count > 0 else { return .hungry }
    var (chunks, head) = (chunks, head)
    do throws(ChunkedBody.Mistake) {
      let body = try chunks.read(input[offset..<offset + count], of: &head)
      let verdict = body.isEmpty ? .take : unsafe body.withUnsafeBytes { unsafe owner?.transferReceivedBody($0) ?? .stop }
      switch verdict {
      case .pause: return .paused
      case .stop: return .stopped
      case .take: break
      }
      // Bytes after the end stay in the input, so that `hasSurplus` reports them.
      offset += chunks.hasSurplus ? count - 1 : count
      bodyCount += body.count
      self.head = head
      part = chunks.isComplete ? .complete : .chunks(chunks)
      return nil
    } catch {
      return .failed(error.reason)
    }
  }

  /// Returns the next line with its ending, if it is complete.
  private mutating func nextLine() -> [UInt8]? {
    guard let end = input[offset...].firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    defer { offset = end + 1 }
    return Array(input[offset...end])
  }
}

extension [UInt8] {
  /// The bytes without the line ending.
  fileprivate var trimmed: [UInt8] {
    Array(prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") })
  }
}
