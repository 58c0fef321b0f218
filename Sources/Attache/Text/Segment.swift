/// A range of a block: a line, several lines, or a piece of one, without a copy.
package struct Segment: Sendable {
  let block: ByteBlock
  let range: Range<Int>

  init(_ block: ByteBlock, _ range: Range<Int>) {
    self.block = block
    self.range = range
  }

  /// A copy of `bytes`.
  ///
  /// - Parameter padding: how many more bytes are readable after the last one.
  package init(copying bytes: [UInt8], padding: Int = 0) {
    self.init(unsafe bytes.withUnsafeBytes { unsafe ByteBlock(copying: $0, padding: padding) }, 0..<bytes.count)
  }

  /// A copy of the bytes.
  package var bytes: [UInt8] {
    unsafe withUnsafeBytes { unsafe Array($0) }
  }

  /// Bytes.
  package var count: Int { range.count }

  /// Gives access to the bytes; those that the block has as padding are readable after them.
  func withUnsafeBytes<Result, Failure: Error>(_ body: (UnsafeRawBufferPointer) throws(Failure) -> Result) throws(Failure) -> Result {
    let bytes = unsafe UnsafeRawBufferPointer(block[range])
    let result = unsafe try body(bytes)
    withExtendedLifetime(block) {}
    return result
  }

  /// The same bytes in a block of their own, with the same padding.
  func copy() -> Segment {
    let copy = unsafe withUnsafeBytes { unsafe ByteBlock(copying: $0, padding: block.padding) }
    return Segment(copy, 0..<count)
  }

  /// This segment and `next` as one, when `next` follows in the same block.
  func joined(with next: Segment) -> Segment? {
    guard block === next.block, range.upperBound == next.range.lowerBound else { return nil }
    return Segment(block, range.lowerBound..<next.range.upperBound)
  }
}
