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

  /// What comes next, pauses left out, in letters.
  private func next() throws -> String {
    while true {
      switch try reader.next() {
      case .pause: continue
      case .line(let line): return String(decoding: line.array, as: UTF8.self)
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
    pipe.write(Array("a\nb\nc".utf8))
    #expect(try next() == "a\n")
    stop.request(finishingLineBy: .distantFuture)
    pipe.write(Array("d\n".utf8))
    #expect(try next() == "b\n")
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
    #expect(try next() == "b\n")
    #expect(try next() == "stopped")
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
