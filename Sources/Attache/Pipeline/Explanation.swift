/// Why a payload was not attached, for a person.
public struct Explanation: Sendable, CustomStringConvertible {
  /// The line, counted from 1.
  public var line: Int
  public var reason: Reason
  /// The URL, as much of it as is to be shown.
  public var url: String?
  /// What was refused or went wrong, and what to do.
  public var text: String

  /// One line of printable ASCII.
  public var description: String {
    "line \(line): \(reason.rawValue)\(url.map { " " + $0 } ?? ""): \(text)"
  }
}
