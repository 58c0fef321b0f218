import Glibc
import Testing

@testable import Attache

@Suite struct LongLineTests {
  private final class Weak {
    weak var block: ByteBlock?

    init(_ block: ByteBlock) {
      self.block = block
    }
  }

  /// Reads a line of `length` bytes and its ending. Returns the sizes of its pieces and the peak
  /// size of the blocks in bytes.
  private func read(length: Int) throws -> (whole: [Int], pieces: [Int], memory: Int) {
    let pipe = try Pipe()
    let reader = LineReader(descriptor: pipe.input, stop: try ReadingStop(), padding: 64)
    var left = length
    var blocks: [Weak] = []
    var (whole, pieces, memory) = ([Int](), [Int](), 0)
    while true {
      switch try reader.next() {
      case .line(let line), .unfinished(let line): whole.append(line.count)
      case .overlong(let piece, _):
        pieces.append(piece.count)
        if blocks.last?.block !== piece.block { blocks.append(Weak(piece.block)) }
        memory = max(memory, blocks.reduce(0) { $0 + ($1.block?.capacity ?? 0) })
      case .pause where !pipe.isEmpty: continue
      case .pause where left == 0: pipe.closeOutput()
      case .pause:
        let count = min(left, 60_000)
        pipe.write(repeatElement(UInt8(ascii: "x"), count: count))
        left -= count
        if left == 0 { pipe.write([10]) }
      case .end, .stopped: return (whole, pieces, memory)
      }
    }
  }

  @Test func `a line of 1 MiB is read whole`() throws {
    let line = try read(length: LineReader.maximumLine)
    #expect(line.whole == [LineReader.maximumLine + 1])
    #expect(line.pieces.isEmpty)
  }

  @Test func `a line of 10 MiB goes through in constant memory`() throws {
    let line = try read(length: 10 << 20)
    #expect(line.whole.isEmpty)
    #expect(line.pieces.reduce(0, +) == (10 << 20) + 1)
    #expect(line.memory <= LineReader.maximumLine + 1 + (256 << 10))
  }

  @Test func `bytes after a line are readable`() throws {
    let pipe = try Pipe()
    pipe.write(Array("abc\n".utf8))
    let reader = LineReader(descriptor: pipe.input, stop: try ReadingStop(), padding: 64, blockSize: 4)
    guard case .pause = try reader.next(), case .line(let line) = try reader.next() else {
      Issue.record("no line")
      return
    }
    #expect(line.block.capacity == 4)
    #expect(line.block.padding == 64)
    #expect(line.copy().block.padding == 64)
    #expect(line.copy().array == Array("abc\n".utf8))
  }
}
