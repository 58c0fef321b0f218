import ArgumentParser
import AttacheArguments
import AttacheQueue

/// A point in time as a user writes it: a date, a span from now, or seconds since 1970.
enum MomentArgument {
  /// Parses a point in time.
  ///
  /// - Returns: the time since 1970.
  /// - Throws: `ValidationError` for any other text.
  static func read(_ text: String) throws -> Duration {
    if text.hasPrefix("+"), let span = DurationArgument(argument: String(text.dropFirst())) {
      return SystemQueueClock().wall + span.duration
    }
    guard let moment = Moment.sinceEpoch(text) else {
      throw ValidationError(
        "write a date such as 2026-11-21T18:00:00Z, a duration from now such as +10m, or seconds since 1970 (before the year 2200)")
    }
    return moment
  }
}
