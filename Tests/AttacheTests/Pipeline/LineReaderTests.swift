import AttacheTesting
import Glibc
import Testing

@testable import Attache

@Suite struct LineReaderTests {
  enum Piece: Equatable {
    case line(String)
    case overlong(String)
  }

  /// Feeds a reader one chunk at each pause, and joins the pieces of an overlong line.
  static func pieces(_ chunks: [[UInt8]], blockSize: Int = 64, maximumLine: Int = 1 << 20) throws -> [Piece] {
    let pipe = try Pipe()
    let reader = LineReader(
      descriptor: pipe.input, stop: try ReadingStop(), padding: 8, blockSize: blockSize, maximumLine: maximumLine)
    var chunks = chunks[...]
    var pieces: [Piece] = []
    var overlong: [UInt8] = []
    while true {
      switch try reader.next() {
      case .line(let line), .unfinished(let line): pieces.append(.line(String(decoding: line.array, as: UTF8.self)))
      case .overlong(let piece, let isLast):
        overlong += piece.array
        guard isLast else { continue }
        pieces.append(.overlong(String(decoding: overlong, as: UTF8.self)))
        overlong = []
      case .pause: if let chunk = chunks.popFirst() { pipe.write(chunk) } else { pipe.closeOutput() }
      case .end, .stopped: return pieces
      }
    }
  }

  static func pieces(_ text: String..., blockSize: Int = 64, maximumLine: Int = 1 << 20) throws -> [Piece] {
    try pieces(text.map { Array($0.utf8) }, blockSize: blockSize, maximumLine: maximumLine)
  }

  @Test func `empty input has no line`() throws {
    #expect(try Self.pieces([]) == [])
  }

  @Test func `a line keeps its ending, and a missing one stays missing`() throws {
    #expect(try Self.pieces("\n") == [.line("\n")])
    #expect(try Self.pieces("a\r\n\r\n\nb") == [.line("a\r\n"), .line("\r\n"), .line("\n"), .line("b")])
    #expect(try Self.pieces("\r") == [.line("\r")])
  }

  @Test func `a line that comes in parts is one line`() throws {
    #expect(try Self.pieces("a", "b", "c\r", "\nd", "\n") == [.line("abc\r\n"), .line("d\n")])
  }

  @Test func `a line of the maximum is whole, a longer one is overlong, wherever it stands`() throws {
    let (full, over) = ("12345678", "123456789")
    #expect(try Self.pieces("\(full)\n\(full)", maximumLine: 8) == [.line("\(full)\n"), .line(full)])
    #expect(
      try Self.pieces("\(over)\nb\n\(over)\r\nc\n\(over)", maximumLine: 8)
        == [.overlong("\(over)\n"), .line("b\n"), .overlong("\(over)\r\n"), .line("c\n"), .overlong(over)])
    #expect(try Self.pieces(full, "9", "\n\n", maximumLine: 8) == [.overlong("\(over)\n"), .line("\n")])
  }

  @Test(arguments: 0..<300) func `whatever the chunks, the lines are those of the input`(seed: UInt64) throws {
    var numbers = SeededGenerator(seed: seed)
    let bytes = (0..<Int.random(in: 0..<600, using: &numbers)).map { _ in
      [UInt8(ascii: "\n"), 13, 65, 66, 67, 65, 66, 67, 65, 66, 67, 65][Int.random(in: 0..<12, using: &numbers)]
    }
    let maximum = Int.random(in: 1..<60, using: &numbers)
    var chunks: [[UInt8]] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = min(rest.count, Int.random(in: 1...[1, 3, 20, 200][Int(seed % 4)], using: &numbers))
      chunks.append(Array(rest.prefix(count)))
      rest = rest.dropFirst(count)
    }
    let pieces = try Self.pieces(chunks, blockSize: Int.random(in: 1..<40, using: &numbers), maximumLine: maximum)
    #expect(pieces == Self.lines(of: bytes, maximum: maximum))
  }

  /// The same, by the simplest implementation.
  private static func lines(of bytes: [UInt8], maximum: Int) -> [Piece] {
    var pieces: [Piece] = []
    var line: [UInt8] = []
    for (index, byte) in bytes.enumerated() {
      line.append(byte)
      guard byte == 10 || index == bytes.count - 1 else { continue }
      let text = String(decoding: line, as: UTF8.self)
      pieces.append(line.count - (byte == 10 ? 1 : 0) > maximum ? .overlong(text) : .line(text))
      line = []
    }
    return pieces
  }
}
