/// A change of some bytes of a line: those in `range` leave, `bytes` come in their place.
public struct LineEdit: Hashable, Sendable {
  /// Counted from the line's start; empty where something is only put in.
  public var range: Range<Int>
  public var bytes: [UInt8]

  public init(_ range: Range<Int>, _ bytes: [UInt8]) {
    self.range = range
    self.bytes = bytes
  }

  /// How many bytes longer the line gets.
  var growth: Int { bytes.count - range.count }
}

extension LineEdit {
  /// A line with these changes. They do not overlap; of two at one place the first comes first.
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
  /// The line with these changes, in a block of its own.
  func applying(_ edits: [LineEdit]) -> Segment {
    Segment(copying: unsafe withUnsafeBytes { unsafe LineEdit.apply(edits, to: $0) })
  }
}
