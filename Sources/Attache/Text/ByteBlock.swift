internal import Glibc

/// Bytes at one place in memory, shared by reference between the reader, the window and the writer.
///
/// `@unchecked Sendable`: a byte is written once, by the block's one owner, before a ``Segment``
/// that covers it is handed to another thread; from then on it is only read.
@safe final class ByteBlock: @unchecked Sendable {
  /// How many bytes may be used.
  let capacity: Int
  /// How many more are readable after the last one: what a parser that reads in wide steps needs.
  /// What they hold is of no matter.
  let padding: Int
  private let memory: UnsafeMutableRawPointer

  init(capacity: Int, padding: Int = 0) {
    self.capacity = capacity
    self.padding = padding
    unsafe memory = .allocate(byteCount: capacity + padding, alignment: 16)
    unsafe (memory + capacity).initializeMemory(as: UInt8.self, repeating: 0, count: padding)
  }

  /// A block that holds a copy of `bytes` and nothing else.
  convenience init(copying bytes: UnsafeRawBufferPointer, padding: Int = 0) {
    self.init(capacity: bytes.count, padding: padding)
    unsafe self[0..<bytes.count].copyMemory(from: bytes)
  }

  deinit {
    unsafe memory.deallocate()
  }

  /// The bytes of a range, valid while the block lives.
  @unsafe subscript(range: Range<Int>) -> UnsafeMutableRawBufferPointer {
    precondition(range.lowerBound >= 0 && range.upperBound <= capacity, "a range outside its block")
    return unsafe UnsafeMutableRawBufferPointer(start: memory + range.lowerBound, count: range.count)
  }

  /// The first place of a byte in a range, or nil.
  func firstIndex(of byte: UInt8, in range: Range<Int>) -> Int? {
    guard !range.isEmpty, let found = unsafe memchr(memory + range.lowerBound, Int32(byte), range.count) else { return nil }
    return unsafe UnsafeRawPointer(memory).distance(to: found)
  }
}
