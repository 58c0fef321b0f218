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
