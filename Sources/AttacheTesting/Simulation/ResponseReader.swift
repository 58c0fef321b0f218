internal import Attache

/// Reads a response as libcurl 7.88.1 does, and tells its owner: what it takes, where it ends, and
/// what it calls what is wrong.
struct ResponseReader {
  enum Step {
    /// More bytes are needed.
    case hungry
    /// The owner wants no more for now.
    case paused
    /// The owner wants no more.
    case stopped
    /// The whole response has been read.
    case complete
    case failed(Reason)
  }

  private enum Part {
    case head
    case body(left: Int)
    /// To the end of the connection, or of the stream.
    case untilEnd
    case chunks(ChunkedBody)
    case complete
  }

  /// The most that libcurl hands over at a time (CURL_MAX_WRITE_SIZE).
  private static let pieceSize = 16 * 1024
  /// The longest line of a header (DYN_HAXPROXY and CURL_MAX_HTTP_HEADER of 7.88.1).
  private static let maximumLine = 100 * 1024

  /// Whether the frames of HTTP/2 say where the body ends.
  private let isStream: Bool
  private var part = Part.head
  private var input: [UInt8] = []
  private var offset = 0
  private var isInsideHead = false
  private(set) var head = Attache.ResponseHead()
  /// What has come of the body, in bytes.
  private(set) var bodyCount = 0
  /// Whether anything has come.
  private(set) var hasBegun = false
  /// Whether the origin says that it will close.
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

  /// Whether bytes are left that belong to no response.
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

  /// What libcurl says of a connection that ends here; nil when it sees nothing wrong.
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
    // After an interim response the next one follows.
    isInsideHead = head.isComplete
    guard head.isComplete else { return nil }
    part = bodyPart
    return owner?.transferReceivedHead(head) == true ? nil : .stopped
  }

  /// libcurl looks at the first bytes already, before the line is whole.
  private var looksLikeHTTP: Bool {
    zip(input[offset...], "HTTP/".utf8).allSatisfy { $0 == $1 }
  }

  private static func isStatusLine(_ line: [UInt8]) -> Bool {
    let words = line.trimmed.split(separator: UInt8(ascii: " "))
    guard words.count >= 2, words[1].count == 3, words[1].allSatisfy({ (0x30...0x39).contains($0) }) else { return false }
    return ["HTTP/1.0", "HTTP/1.1", "HTTP/2", "HTTP/2.0"].contains(String(decoding: words[0], as: UTF8.self))
  }

  /// Notes the fields that concern the connection, and those that only libcurl reads.
  ///
  /// - Returns: false for a length that is none, a line without a colon, and one with a NUL.
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

  /// Reads a piece of chunks as ``ChunkedBody`` does behind libcurl; one that the owner does not
  /// want now is read again.
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
      // What follows the end stays, so that the connection is seen to hold more.
      offset += chunks.hasSurplus ? count - 1 : count
      bodyCount += body.count
      self.head = head
      part = chunks.isComplete ? .complete : .chunks(chunks)
      return nil
    } catch {
      return .failed(error.reason)
    }
  }

  /// The next line with its ending, if it is whole.
  private mutating func nextLine() -> [UInt8]? {
    guard let end = input[offset...].firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    defer { offset = end + 1 }
    return Array(input[offset...end])
  }
}

extension [UInt8] {
  /// Without the line ending.
  fileprivate var trimmed: [UInt8] {
    Array(prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") })
  }
}
