import Attache
import Foundation
import Glibc

/// A pipe that the test reads byte by byte, or not at all.
final class TestPipe: Sendable {
  let writeEnd: Int32
  let readEnd: Int32
  private let queue: ProgramInput
  private let closed = Watched<Set<Int32>>([])

  init() throws {
    let ends = try PipeEnds()
    (readEnd, writeEnd) = (ends.read, ends.write)
    queue = ProgramInput(fcntl(writeEnd, F_DUPFD_CLOEXEC, 3))
  }

  deinit {
    closeReadEnd()
    closeWriteEnd()
  }

  func closeReadEnd() { closeOnce(readEnd) }
  func closeWriteEnd() {
    queue.close()
    closeOnce(writeEnd)
  }

  /// Writes in order, without blocking the test. Bytes that fit into the pipe take one write(2).
  func write(_ text: some StringProtocol) {
    queue.write(Array(text.utf8))
  }

  /// Reads exactly the next line and returns it without its line feed.
  func readLine() async -> String {
    await withCheckedContinuation { continuation in
      Foundation.Thread.detachNewThread { [readEnd] in
        var (line, byte): ([UInt8], UInt8) = ([], 0)
        while unsafe read(readEnd, &byte, 1) == 1, byte != UInt8(ascii: "\n") { line.append(byte) }
        continuation.resume(returning: String(decoding: line, as: UTF8.self))
      }
    }
  }

  private func closeOnce(_ descriptor: Int32) {
    if closed.change({ $0.insert(descriptor).inserted }) { close(descriptor) }
  }
}
