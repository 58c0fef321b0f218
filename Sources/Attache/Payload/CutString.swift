/// A JSON string whose text is shortened: its end is replaced by an ellipsis. The bytes before it
/// stay as they are written.
///
/// The text ends at a boundary of extended grapheme clusters, so that no letter loses its accent
/// and no emoji falls apart. White space before the ellipsis is dropped.
struct CutString: Hashable, Sendable {
  static let ellipsis = Array("…".utf8)

  /// The end of the string, which ``ellipsis`` replaces; the closing quote is not in it.
  let range: Range<Int>
  /// The lengths of the text, decoded.
  let sizes: BodyCut

  /// Creates the longest text that frees a number of bytes; nil if that leaves no grapheme cluster.
  ///
  /// Takes time in proportion to the string's length, whatever a stranger wrote: a megabyte of
  /// combining marks is one cluster.
  ///
  /// - Parameters:
  ///   - string: the string without its quotes.
  ///   - text: contains the string, which is known to be valid.
  ///   - count: the number of bytes by which the string must become shorter.
  init?(_ string: Range<Int>, in text: Span<UInt8>, freeing count: Int) {
    let limit = string.upperBound - count - Self.ellipsis.count
    guard limit > string.lowerBound else { return nil }
    let head = Self.head(of: string, in: text, upTo: limit)
    let kept = Self.lengthOfWholeClusters(JSONString.unescaped(text, string.lowerBound..<head.end), upTo: head.decoded)
    guard kept > 0 else { return nil }
    range = JSONString.places(of: [kept], in: text, string)[0]..<string.upperBound
    sizes = BodyCut(from: JSONString.unescaped(text, string).count, to: kept + Self.ellipsis.count)
  }

  /// The number of bytes by which the string becomes shorter.
  var freed: Int { range.count - Self.ellipsis.count }

  /// Returns how many bytes the source up to a limit has when it is decoded, without an escape that
  /// the limit divides, and the end of the scalar that follows, which decides whether a cluster
  /// ends there.
  private static func head(of string: Range<Int>, in text: Span<UInt8>, upTo limit: Int) -> (decoded: Int, end: Int) {
    var (decoded, index) = (0, string.lowerBound)
    // A scalar has at most four bytes if it is not an escape.
    while index < min(limit + 4, string.upperBound) {
      var width = 1
      if text[index] == UInt8(ascii: "\\") {
        let (length, number) = JSONString.escape(in: text, at: index)
        width = UTF8.width(Unicode.Scalar(number) ?? "\u{FFFD}")
        index += length
      } else {
        index += 1
      }
      if index <= limit { decoded += width }
    }
    return (decoded, min(index, string.upperBound))
  }

  /// Returns the number of bytes of the whole clusters within the first `limit` bytes, without white
  /// space at their end.
  private static func lengthOfWholeClusters(_ bytes: [UInt8], upTo limit: Int) -> Int {
    let text = String(decoding: bytes, as: UTF8.self)
    var (length, start) = (0, text.startIndex)
    while start < text.endIndex {
      let end = text.index(after: start)
      let offset = text.utf8.distance(from: text.startIndex, to: end)
      guard offset <= limit else { break }
      if !text.unicodeScalars[start..<end].allSatisfy(\.properties.isWhitespace) { length = offset }
      start = end
    }
    return length
  }
}

/// The lengths of the body of an alert before and after it was cut, in bytes of UTF-8.
package struct BodyCut: Hashable, Sendable {
  /// As its sender wrote it.
  var from: Int
  /// With the ellipsis at its end.
  var to: Int

  /// The lengths of several bodies together.
  static func + (first: BodyCut, second: BodyCut) -> BodyCut {
    BodyCut(from: first.from + second.from, to: first.to + second.to)
  }
}
