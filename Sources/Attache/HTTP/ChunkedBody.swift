/// Extracts the body from a chunked message (RFC 9112, section 7.1) and limits the bytes that are
/// not body.
///
/// libcurl accepts extensions of any length, any bytes after a size, and nonstandard line endings.
/// So attache parses the chunks itself.
package struct ChunkedBody: Sendable {
  /// What is wrong with the bytes.
  package enum Mistake: Error {
    /// The bytes are not chunks, or contain too much besides the body.
    case framing
    /// There are too many trailers, or they are too long.
    case trailers

    package var reason: Reason {
      switch self {
      case .framing: .httpFraming
      case .trailers: .httpHeaders
      }
    }
  }

  private enum Part {
    case size, data, dataEnd, trailers, complete
  }

  /// The longest line of a size with its extensions, or of a trailer, in bytes. It is slightly
  /// below libcurl's own limit for trailers.
  private static let maximumLine = 4_000
  /// The maximum number of bytes besides the body and what its chunks need. Go's net/http uses the
  /// same limit.
  private static let maximumExcess = 16 * 1024
  /// The largest size of a chunk, in bytes: 256 TiB, as for a box of ISO media. No sum of such
  /// sizes can overflow.
  private static let maximumSize = 1 << 48

  private var part = Part.size
  private var line: [UInt8] = []
  private var left = 0
  private var excess = 0
  /// Whether there are bytes after the end of the body.
  package private(set) var hasSurplus = false

  package init() {}

  package var isComplete: Bool { part == .complete }

  /// Parses the next bytes. Counts the trailer lines together with the header lines.
  ///
  /// - Returns: the bytes that belong to the body.
  package mutating func read(_ bytes: ArraySlice<UInt8>, of head: inout ResponseHead) throws(Mistake) -> [UInt8] {
    var body: [UInt8] = []
    var rest = bytes
    while let byte = rest.first {
      switch part {
      case .data:
        let piece = rest.prefix(left)
        body += piece
        left -= piece.count
        rest = rest.dropFirst(piece.count)
        if left == 0 { part = .dataEnd }
      case .complete:
        hasSurplus = true
        return body
      case .size, .dataEnd, .trailers:
        rest.removeFirst()
        try add(byte, of: &head)
      }
    }
    return body
  }

  private mutating func add(_ byte: UInt8, of head: inout ResponseHead) throws(Mistake) {
    line.append(byte)
    guard line.count <= Self.maximumLine else { throw part == .trailers ? .trailers : .framing }
    guard byte == UInt8(ascii: "\n") else { return }
    defer { line.removeAll(keepingCapacity: true) }
    switch part {
    case .size:
      left = try size()
      // A chunk of this size may need this many bytes for its lines, so small chunks without
      // extensions never add up to an excess.
      excess = max(0, excess + line.count - 16 - 2 * left)
      guard excess <= Self.maximumExcess else { throw .framing }
      part = left > 0 ? .data : .trailers
    case .dataEnd:
      guard line.elementsEqual("\r\n".utf8) else { throw .framing }
      part = .size
    case .trailers:
      guard unsafe line.withUnsafeBytes({ unsafe head.add($0) }) else { throw .trailers }
      if line.elementsEqual("\r\n".utf8) || line.elementsEqual("\n".utf8) { part = .complete }
    case .data, .complete: break
    }
  }

  /// Parses a size line: digits, blanks that old servers send after them, extensions, and the
  /// required line ending.
  private func size() throws(Mistake) -> Int {
    guard line.suffix(2).elementsEqual("\r\n".utf8) else { throw .framing }
    let content = line.dropLast(2)
    let digits = content.prefix { $0.hexadecimalDigit != nil }
    let behind = content.dropFirst(digits.count).drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    guard behind.isEmpty || behind.first == UInt8(ascii: ";"), !content.contains(UInt8(ascii: "\r")),
      let size = Int(String(decoding: digits, as: UTF8.self), radix: 16), size <= Self.maximumSize
    else { throw .framing }
    return size
  }
}
