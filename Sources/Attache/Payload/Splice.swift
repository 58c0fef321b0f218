/// The place where a member is inserted into a line: before the closing brace of the payload. All
/// other bytes stay the same.
public struct Splice: Hashable, Sendable {
  /// The byte range in the line of the object that receives the member, including both braces.
  public var payload: Range<Int>
  /// Whether that object has no members yet, so that no comma is needed.
  public var isEmptyObject: Bool
  /// The size in bytes of the payload as APNs receives it, unescaped and without the member.
  public var payloadCount: Int
  /// The byte offset of the closing brace. The member is inserted before this byte.
  public var offset: Int
  /// The number of nested JSON strings around the object. The member is escaped that many times.
  public var depth = 0
  /// The name of a member to create in the object; the new member then goes inside it. Nil if the
  /// object receives the member directly.
  public var wrapper: String?
  /// The byte offset of a second place that receives the same bytes, before or after the first.
  public var twin: Int?

  /// Creates a place at the end of an object that is in the line itself, not in a string.
  public init(payload: Range<Int>, isEmptyObject: Bool = false) {
    self.payload = payload
    self.isEmptyObject = isEmptyObject
    payloadCount = payload.count
    offset = payload.upperBound - 1
  }

  /// Returns the payload's size in bytes after a member of `memberLength` bytes is inserted, which
  /// is the size that APNs limits.
  public func payloadLength(with memberLength: Int) -> Int {
    payloadCount + memberLength + (isEmptyObject ? 0 : 1)
  }

  /// Returns the bytes to insert before ``offset``: a comma if needed, and the member, wrapped and
  /// escaped as its place requires.
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

  /// Returns the edits that insert the member into the line.
  ///
  /// - Parameter member: key, colon and value, as ``AttachmentMember`` writes them.
  public func edits(with member: [UInt8]) -> [LineEdit] {
    let bytes = insertion(of: member)
    return [offset, twin].compactMap { $0.map { LineEdit($0..<$0, bytes) } }
  }
}
