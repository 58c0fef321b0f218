import ArgumentParser
import Attache

/// A rate as a user writes it: `500/s`, `3000/m`, `10000/h`, `0.5/s`.
struct RateArgument: ExpressibleByArgument, CustomStringConvertible {
  /// Greater than 0 and at most a million.
  var perSecond: Double
  let description: String

  init?(argument: String) {
    guard let slash = argument.lastIndex(of: "/"), let number = PlainNumber(argument[..<slash]) else { return nil }
    let seconds: [String: Double] = ["s": 1, "m": 60, "h": 3_600]
    guard let span = seconds[String(argument[argument.index(after: slash)...])] else { return nil }
    perSecond = number.value / span
    description = argument
    guard perSecond > 0, perSecond <= 1_000_000 else { return nil }
  }

  static var allValueStrings: [String] { [] }
}
