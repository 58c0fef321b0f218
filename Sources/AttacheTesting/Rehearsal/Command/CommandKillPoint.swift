internal import Attache

/// The point at which a rehearsed command is killed.
public enum CommandKillPoint: Sendable, Hashable, CustomStringConvertible {
  /// When it starts.
  case start
  /// When it has read its whole input.
  case fed
  /// When the nth request has reached an origin.
  case request(Int)
  /// When an origin has sent the nth piece of a body.
  case sent(Int)
  /// When the nth line of output has arrived.
  case line(Int)
  /// This long after the first byte was offered.
  case moment(Duration)

  /// Parses a text such as `fed` or `request:2`; the default number is 1. Returns nil for any other
  /// text.
  public init?(_ text: String) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let number = parts.count == 1 ? 1 : Int(parts[1])
    guard let number, number > 0 else { return nil }
    switch parts[0] {
    case "start" where parts.count == 1: self = .start
    case "fed" where parts.count == 1: self = .fed
    case "request": self = .request(number)
    case "sent": self = .sent(number)
    case "line": self = .line(number)
    default: return nil
    }
  }

  public var description: String {
    switch self {
    case .start: "start"
    case .fed: "fed"
    case .request(let number): "request:\(number)"
    case .sent(let number): "sent:\(number)"
    case .line(let number): "line:\(number)"
    case .moment(let moment): "\(Int(moment.milliseconds.rounded()))ms"
    }
  }
}
