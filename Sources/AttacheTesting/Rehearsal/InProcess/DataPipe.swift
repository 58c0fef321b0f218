internal import Attache
internal import AttacheArguments
internal import Glibc

/// A pipe whose ends are each closed exactly once.
///
/// Not `Sendable`: a run passes each end to one thread.
final class DataPipe {
  private(set) var readEnd: Int32
  private(set) var writeEnd: Int32

  init() throws(InProcessEngine.Refusal) {
    do throws(SystemError) {
      let ends = try PipeEnds()
      (readEnd, writeEnd) = (ends.read, ends.write)
    } catch {
      throw InProcessEngine.Refusal(status: ExitStatus.software, reason: "pipe: errno \(error.number)")
    }
  }

  deinit {
    closeRead()
    closeWrite()
  }

  func closeRead() {
    if readEnd >= 0 { close(readEnd) }
    readEnd = -1
  }

  func closeWrite() {
    if writeEnd >= 0 { close(writeEnd) }
    writeEnd = -1
  }

  /// Transfers ownership of an end: the caller must close it.
  func takeRead() -> Int32 {
    defer { readEnd = -1 }
    return readEnd
  }

  func takeWrite() -> Int32 {
    defer { writeEnd = -1 }
    return writeEnd
  }
}
