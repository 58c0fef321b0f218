/// An edit of a line: the bytes in `range` are replaced by `bytes`.
public struct LineEdit: Hashable, Sendable {
  /// The bytes to replace, as offsets in the line; empty for an insertion.
  public var range: Range<Int>
  /// The bytes to insert; empty for a deletion.
  public var bytes: [UInt8]

  /// Creates an edit that replaces the bytes in `range` by `bytes`.
  public init(_ range: Range<Int>, _ bytes: [UInt8]) {
    self.range = range
    self.bytes = bytes
  }

  /// The number of bytes by which the line grows; negative if it shrinks.
  var growth: Int { bytes.count - range.count }
}

extension LineEdit {
  /// Returns whether two of the edits replace the same bytes.
  static func overlap(_ edits: [LineEdit]) -> Bool {
    let ranges = edits.map(\.range).sorted { ($0.lowerBound, $0.upperBound) < ($1.lowerBound, $1.upperBound) }
    return zip(ranges, ranges.dropFirst()).contains { $0.upperBound > $1.lowerBound }
  }

  /// Returns a line with the edits applied. The edits must not overlap. Edits at the same place are
  /// applied in the order of `edits`.
  public static func apply(_ edits: [LineEdit], to line: some Collection<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(line.count + edits.reduce(0) { $0 + max(0, $1.growth) })
    var rest = line[...]
    var done = 0
    for (_, edit) in edits.enumerated().sorted(by: { ($0.element.range.lowerBound, $0.offset) < ($1.element.range.lowerBound, $1.offset) })
    {
      bytes.append(contentsOf: rest.prefix(edit.range.lowerBound - done))
      bytes += edit.bytes
      rest = rest.dropFirst(edit.range.upperBound - done)
      done = edit.range.upperBound
    }
    bytes.append(contentsOf: rest)
    return bytes
  }
}

extension Segment {
  /// Returns a new segment that holds the line with the edits applied.
  func applying(_ edits: [LineEdit]) -> Segment {
    Segment(copying: unsafe withUnsafeBytes { unsafe LineEdit.apply(edits, to: $0) })
  }
}
