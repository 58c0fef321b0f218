internal import ArgumentParser
internal import Attache

/// A span of time as a user writes it: `300ms`, `2s`, `1m`, `12h`, `30d`.
package struct DurationArgument: ExpressibleByArgument, CustomStringConvertible {
  package var duration: Duration
  package let description: String

  package init(_ duration: Duration, as text: String) {
    self.duration = duration
    description = text
  }

  package init?(argument: String) {
    guard let duration = WrittenDuration.duration(argument) else { return nil }
    self.init(duration, as: argument)
  }

  package static var allValueStrings: [String] { [] }
}
