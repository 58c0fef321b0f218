/// Where a member goes into a line: before the closing brace of the payload, everything else
/// staying byte for byte.
public struct Splice: Hashable, Sendable {
  /// The object that takes the member, in bytes from the line's start, both braces included.
  public var payload: Range<Int>
  /// Whether that object has no member yet, so that no comma is due.
  public var isEmptyObject: Bool
  /// The bytes of the payload as APNs gets it, unescaped and without the member.
  public var payloadCount: Int
  /// The index of the closing brace: the member goes before this byte.
  public var offset: Int
  /// Within how many JSON strings the object stands, one in another: so often is the member
  /// escaped.
  public var depth = 0
  /// The member of the object that is made to hold the member; nil when the object takes it itself.
  public var wrapper: String?
  /// A further place that takes the same bytes, before this one or behind it.
  public var twin: Int?

  public init(payload: Range<Int>, isEmptyObject: Bool = false) {
    self.payload = payload
    self.isEmptyObject = isEmptyObject
    payloadCount = payload.count
    offset = payload.upperBound - 1
  }

  /// The bytes of the payload alone, once a member of `memberLength` bytes is in it: what APNs'
  /// limit counts.
  public func payloadLength(with memberLength: Int) -> Int {
    payloadCount + memberLength + (isEmptyObject ? 0 : 1)
  }

  /// What is put in before the byte at ``offset``: the comma if one is due, and the member, wrapped
  /// and escaped as its place needs.
  public func insertion(of member: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = isEmptyObject ? [] : [UInt8(ascii: ",")]
    if let wrapper {
      bytes += "\"\(wrapper)\":{".utf8
      bytes += member
      bytes.append(UInt8(ascii: "}"))
    } else {
      bytes += member
    }
    for _ in 0..<depth { bytes = JSONString.escaped(bytes) }
    return bytes
  }

  /// The changes that the member makes to the line.
  ///
  /// - Parameter member: key, colon and value, as ``AttachmentMember`` writes them.
  public func edits(with member: [UInt8]) -> [LineEdit] {
    let bytes = insertion(of: member)
    return [offset, twin].compactMap { $0.map { LineEdit($0..<$0, bytes) } }
  }
}
