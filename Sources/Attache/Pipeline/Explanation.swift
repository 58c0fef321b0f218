/// Why a payload fell back, for a person.
public struct Explanation: Sendable, CustomStringConvertible {
  /// The line, counted from 1.
  public var line: Int
  public var reason: Reason
  /// The URL as the payload writes it.
  public var url: String?
  /// What was refused or went wrong, and what to do.
  public var text: String

  /// One line of printable ASCII in which the URL is cut and has no query, since that may hold a secret.
  public var description: String {
    let shown = url.map { " " + Refusal.quote($0.utf8.prefix { $0 != UInt8(ascii: "?") }) } ?? ""
    return "line \(line): \(reason.rawValue)\(shown): \(text)"
  }
}
