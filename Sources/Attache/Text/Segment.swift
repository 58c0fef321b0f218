internal import Glibc

/// A range of a block: a line, several lines, or part of a line, without a copy.
package struct Segment: Sendable {
  let block: ByteBlock
  let range: Range<Int>

  init(_ block: ByteBlock, _ range: Range<Int>) {
    self.block = block
    self.range = range
  }

  /// Makes a segment that contains a copy of `bytes`.
  ///
  /// - Parameter padding: the number of readable bytes after the last one.
  package init(copying bytes: [UInt8], padding: Int = 0) {
    self.init(unsafe bytes.withUnsafeBytes { unsafe ByteBlock(copying: $0, padding: padding) }, 0..<bytes.count)
  }

  /// A copy of the bytes.
  package var bytes: [UInt8] {
    unsafe withUnsafeBytes { unsafe Array($0) }
  }

  /// The number of bytes.
  package var count: Int { range.count }

  /// Calls `body` with the bytes. The block's padding is readable after them.
  package func withUnsafeBytes<Result, Failure: Error>(_ body: (UnsafeRawBufferPointer) throws(Failure) -> Result) throws(Failure) -> Result
  {
    let bytes = unsafe UnsafeRawBufferPointer(block[range])
    let result = unsafe try body(bytes)
    withExtendedLifetime(block) {}
    return result
  }

  /// Returns a segment with the same bytes in a block of their own, with the same padding.
  func copy() -> Segment {
    let copy = unsafe withUnsafeBytes { unsafe ByteBlock(copying: $0, padding: block.padding) }
    return Segment(copy, 0..<count)
  }

  /// Returns this segment and `next` as one segment, or nil unless `next` follows in the same
  /// block.
  func joined(with next: Segment) -> Segment? {
    guard block === next.block, range.upperBound == next.range.lowerBound else { return nil }
    return Segment(block, range.lowerBound..<next.range.upperBound)
  }
}

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

extension UnsafeRawBufferPointer {
  /// Returns the number of bytes up to and including the first occurrence of `byte`, by `memchr`;
  /// nil when there is none.
  func distance(behind byte: UInt8) -> Int? {
    guard let start = baseAddress, let found = unsafe memchr(start, Int32(byte), count) else { return nil }
    return unsafe UnsafeRawPointer(found) - start + 1
  }
}
