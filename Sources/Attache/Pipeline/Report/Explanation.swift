/// Why a payload was not attached, for a person.
public struct Explanation: Sendable, CustomStringConvertible {
  /// The line, counted from 1.
  public var line: Int
  public var reason: Reason
  /// The URL, as much of it as is to be shown.
  public var url: String?
  /// What was refused or went wrong, and what to do.
  public var text: String
  /// For how many payloads this stands: 1 when it is the first with its reason, else all with the
  /// reason that came in the last hour, of which ``line`` is the first.
  public var count = 1
  /// Whether the reason was told before.
  public var isRepeated = false

  /// One line of printable ASCII.
  public var description: String {
    let again = isRepeated ? " (again \(count.grouped) \(count == 1 ? "time" : "times") in the last hour)" : ""
    return "line \(line): \(reason.rawValue)\(url.map { " " + $0 } ?? ""): \(text)\(again)"
  }
}

extension Int {
  /// The number with a comma before each three digits: 1,234.
  fileprivate var grouped: String {
    var text = ""
    for (place, digit) in String(self).reversed().enumerated() {
      if place > 0, place % 3 == 0, digit != "-" { text.append(",") }
      text.append(digit)
    }
    return String(text.reversed())
  }
}
