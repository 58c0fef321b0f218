internal import Attache
internal import Glibc

/// A pipe whose ends are each closed exactly once.
///
/// Not `Sendable`: a run passes each end to one thread.
final class DataPipe {
  private(set) var readEnd: Int32
  private(set) var writeEnd: Int32

  init() throws(SystemError) {
    let ends = try PipeEnds()
    (readEnd, writeEnd) = (ends.read, ends.write)
  }

  deinit {
    for end in [readEnd, writeEnd] where end >= 0 { close(end) }
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
