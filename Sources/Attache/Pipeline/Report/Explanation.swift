/// A human-readable explanation of why a payload was not attached.
public struct Explanation: Sendable, CustomStringConvertible {
  /// The line, counted from 1.
  public var line: Int
  /// The column of the mistake in the line, in characters, counted from 1; nil if none is known.
  public var column: Int?
  /// The reason that the report records.
  public var reason: Reason
  /// The URL, as much of it as may be shown; nil if no URL caused it.
  public var url: String?
  /// What was refused or failed, and what to do.
  public var text: String
  /// The number of payloads that this explains: 1 for the first with its reason and detail, otherwise
  /// all with them in the last hour, of which ``line`` is the first.
  public var count = 1
  /// Whether the reason was reported before with this detail.
  public var isRepeated = false

  /// One printable line.
  public var description: String {
    let place = column.map { ", column \($0)" } ?? ""
    let again = isRepeated ? " (again \(count.grouped) \(count == 1 ? "time" : "times") in the last hour)" : ""
    return "line \(line)\(place): \(reason.rawValue)\(url.map { " " + $0 } ?? ""): \(text)\(again)"
  }
}

extension Int {
  /// The number with a comma between groups of three digits: 1,234.
  fileprivate var grouped: String {
    var text = ""
    for (place, digit) in String(self).reversed().enumerated() {
      if place > 0, place % 3 == 0, digit != "-" { text.append(",") }
      text.append(digit)
    }
    return String(text.reversed())
  }
}
