/// Where a member goes into a line: before the closing brace of the payload, everything else staying byte for byte.
public struct Splice: Hashable, Sendable {
  /// The payload within the line, in bytes from the line's start, both braces included.
  public var payload: Range<Int>
  /// Whether the payload has no member yet, so that no comma is due.
  public var isEmptyObject: Bool

  public init(payload: Range<Int>, isEmptyObject: Bool = false) {
    self.payload = payload
    self.isEmptyObject = isEmptyObject
  }

  /// The index of the closing brace: the member goes before this byte.
  public var offset: Int { payload.upperBound - 1 }

  /// The bytes of the payload alone, once a member of `memberLength` bytes is in it: what APNs' limit counts.
  public func payloadLength(with memberLength: Int) -> Int {
    payload.count + memberLength + (isEmptyObject ? 0 : 1)
  }

  /// The enriched line, as pieces in order: up to the brace, the comma if one is due, the member, the rest with its line ending.
  ///
  /// - Parameters:
  ///   - line: the original, with or without its line ending.
  ///   - member: key, colon and value, as ``AttachmentMember`` writes them.
  public func pieces(of line: ArraySlice<UInt8>, member: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
    let brace = line.startIndex + offset
    return [line[..<brace], isEmptyObject ? [] : [UInt8(ascii: ",")], member, line[brace...]]
  }
}
