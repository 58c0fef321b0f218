internal import Glibc

/// A block of memory that the reader, the window and the writer share by reference.
///
/// `@unchecked Sendable`: the block's one owner writes each byte once, before it passes a
/// ``Segment`` that covers the byte to another thread. After that, the byte is only read.
@safe final class ByteBlock: @unchecked Sendable {
  /// The number of usable bytes.
  let capacity: Int
  /// The number of readable bytes after the last usable one, for a parser that reads in wide steps.
  /// Their content does not matter.
  let padding: Int
  private let memory: UnsafeMutableRawPointer

  init(capacity: Int, padding: Int = 0) {
    self.capacity = capacity
    self.padding = padding
    unsafe memory = .allocate(byteCount: capacity + padding, alignment: 16)
    unsafe (memory + capacity).initializeMemory(as: UInt8.self, repeating: 0, count: padding)
  }

  /// Makes a block that contains exactly a copy of `bytes`.
  convenience init(copying bytes: UnsafeRawBufferPointer, padding: Int = 0) {
    self.init(capacity: bytes.count, padding: padding)
    unsafe self[0..<bytes.count].copyMemory(from: bytes)
  }

  deinit {
    unsafe memory.deallocate()
  }

  /// The bytes of a range, valid as long as the block exists.
  @unsafe subscript(range: Range<Int>) -> UnsafeMutableRawBufferPointer {
    precondition(range.lowerBound >= 0 && range.upperBound <= capacity, "a range outside its block")
    return unsafe UnsafeMutableRawBufferPointer(start: memory + range.lowerBound, count: range.count)
  }

  /// Returns the index of the first occurrence of a byte in a range, or nil.
  func firstIndex(of byte: UInt8, in range: Range<Int>) -> Int? {
    guard !range.isEmpty, let found = unsafe memchr(memory + range.lowerBound, Int32(byte), range.count) else { return nil }
    return unsafe UnsafeRawPointer(memory).distance(to: found)
  }
}
