/// Reads the value that each record of the report repeats, so that a line can be told by its user or
/// its campaign.
///
/// It owns parsers, so only one thread at a time may use it.
final class ReportKey {
  /// The longest value, in bytes of its JSON.
  static let maximumBytes = 1_024
  /// The value of a line that has none.
  static let none = Array("null".utf8)

  private let place: JSONPointer
  private let reader = DeliveryReader()

  /// - Parameter place: the place in the line, envelope included.
  /// - Throws: ``SystemError`` if there is no memory for a parser.
  init(_ place: JSONPointer) throws(SystemError) {
    self.place = place
    try reader.checkMemory()
  }

  /// Returns the string, number or boolean at the place, as JSON; `null` if there is none, or if it is
  /// longer than ``maximumBytes``.
  func value(of line: Segment) -> [UInt8] {
    guard line.count <= PayloadReader.maximumLineLength, let value = reader.source(at: place, of: line.bytes) else { return Self.none }
    return value.count <= Self.maximumBytes ? value : Self.none
  }
}
