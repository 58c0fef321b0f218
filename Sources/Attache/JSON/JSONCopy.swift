/// A value that was copied, byte for byte, from one text to another.
package struct JSONCopy: Hashable, Sendable {
  /// The offset of the value in the text that was written.
  let start: Int
  /// The range of the value in the text that it comes from.
  let source: Range<Int>

  /// Converts a range of the text that was written; nil if the range is not within the copy.
  func origin(of range: Range<Int>) -> Range<Int>? {
    let offset = source.lowerBound - start
    let origin = range.lowerBound + offset..<range.upperBound + offset
    return source.lowerBound <= origin.lowerBound && origin.upperBound <= source.upperBound ? origin : nil
  }
}
