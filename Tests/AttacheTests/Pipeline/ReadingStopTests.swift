import Glibc
import Testing

@testable import Attache

@Suite struct ReadingStopTests {
  private let pipe: Pipe
  private let stop: ReadingStop
  private let reader: LineReader

  init() throws {
    pipe = try Pipe()
    stop = try ReadingStop()
    reader = LineReader(descriptor: pipe.input, stop: stop, padding: 0, blockSize: 64, maximumLine: 4)
  }

  /// The next events without pauses, as letters.
  private func next() throws -> String {
    while true {
      switch try reader.next() {
      case .pause: continue
      case .line(let line): return String(decoding: line.array, as: UTF8.self)
      case .unfinished(let line): return "unfinished " + String(decoding: line.array, as: UTF8.self)
      case .overlong(let piece, let isLast): return "overlong \(piece.count)\(isLast ? " last" : "")"
      case .end: return "end"
      case .stopped: return "stopped"
      }
    }
  }

  @Test func `a stop wakes a reader that waits for input`() throws {
    let stop = stop
    let thread = try Thread.start("stopper") { stop.request(finishingLineBy: .now) }
    #expect(try next() == "stopped")
    #expect(try next() == "stopped")
    thread.join()
  }

  @Test func `lines that are in memory still come, input that is not does not`() throws {
    pipe.write(Array("a\nb\n".utf8))
    #expect(try next() == "a\n")
    stop.request(finishingLineBy: .distantFuture)
    pipe.write(Array("c\n".utf8))
    #expect(try next() == "b\n")
    #expect(try next() == "stopped")
    #expect(!pipe.isEmpty)
  }

  @Test func `a line that has begun is finished, and no byte behind it is read`() throws {
    pipe.write(Array("a\nb".utf8))
    #expect(try next() == "a\n")
    stop.request(finishingLineBy: .distantFuture)
    pipe.write(Array("c\nd\ne".utf8))
    #expect(try next() == "bc\n")
    #expect(try next() == "stopped")
    pipe.closeOutput()
    #expect(pipe.readAll() == Array("d\ne".utf8))
  }

  @Test func `a line that becomes overlong after the stop is finished all the same`() throws {
    pipe.write(Array("a\nb".utf8))
    #expect(try next() == "a\n")
    stop.request(finishingLineBy: .distantFuture)
    pipe.write(Array("cdefgh".utf8))
    #expect(try next() == "overlong 7")
    pipe.write(Array("i\nj".utf8))
    #expect(try next() == "overlong 2 last")
    #expect(try next() == "stopped")
    #expect(!pipe.isEmpty)
  }

  @Test func `the last line of an input that ends after the stop is whole without an ending`() throws {
    pipe.write(Array("a\nb".utf8))
    #expect(try next() == "a\n")
    stop.request(finishingLineBy: .distantFuture)
    pipe.write(Array("c".utf8))
    pipe.closeOutput()
    #expect(try next() == "bc")
    #expect(try next() == "end")
  }

  @Test func `a line that does not end is given up when its time is over, and what was read of it comes`() throws {
    pipe.write(Array("a\nb".utf8))
    #expect(try next() == "a\n")
    stop.request(finishingLineBy: .distantFuture)
    stop.request(finishingLineBy: .now)
    pipe.write(Array("c\n".utf8))
    #expect(try next() == "unfinished b")
    #expect(try next() == "stopped")
  }

  @Test func `an overlong line that has begun is finished`() throws {
    pipe.write(Array("123456".utf8))
    #expect(try next() == "overlong 6")
    stop.request(finishingLineBy: .distantFuture)
    pipe.write(Array("7".utf8))
    #expect(try next() == "overlong 1")
    pipe.write(Array("8\nb\n".utf8))
    #expect(try next() == "overlong 2 last")
    #expect(try next() == "stopped")
    pipe.closeOutput()
    #expect(pipe.readAll() == Array("b\n".utf8))
  }

  @Test func `an overlong line that does not end is given up when its time is over`() throws {
    pipe.write(Array("123456".utf8))
    #expect(try next() == "overlong 6")
    stop.request(finishingLineBy: .distantFuture)
    stop.request(finishingLineBy: .now)
    #expect(try next() == "overlong 0 last")
    #expect(try next() == "stopped")
  }

  @Test func `an input that cannot be read gives the error of the system`() throws {
    let folder = unsafe open("/", O_RDONLY | O_CLOEXEC)
    defer { close(folder) }
    let reader = LineReader(descriptor: folder, stop: stop, padding: 0)
    _ = try reader.next()
    #expect(throws: SystemError(call: "read", number: EISDIR)) { try reader.next() }
  }
}
