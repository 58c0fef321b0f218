internal import Glibc

/// Parses times that people and programs write.
package enum Moment {
  /// Parses an RFC 3339 date (`2026-11-21T18:00:00Z`, `2026-11-21T19:00:00.5+01:00`) or seconds
  /// since 1970.
  ///
  /// - Returns: the time since 1970. Nil for any other text, and for a time before 1970 or after
  ///   ``NewPayload/latest``.
  package static func sinceEpoch(_ text: String) -> Duration? {
    let moment = seconds(text) ?? date(text)
    return moment.flatMap { $0 >= .zero && $0 <= NewPayload.latest ? $0 : nil }
  }

  /// Parses digits, and optionally a point and more digits.
  private static func seconds(_ text: String) -> Duration? {
    var rest = Array(text.utf8)[...]
    let whole = digits(&rest)
    guard !whole.isEmpty, whole.count < 12, let seconds = number(whole) else { return nil }
    guard !rest.isEmpty else { return .seconds(seconds) }
    return fraction(&rest).flatMap { rest.isEmpty ? .seconds(seconds) + $0 : nil }
  }

  /// Parses a date of RFC 3339, section 5.6.
  private static func date(_ text: String) -> Duration? {
    var rest = Array(text.utf8)[...]
    guard let year = two(&rest, twice: true), skip("-", &rest), let month = two(&rest), skip("-", &rest), let day = two(&rest),
      skip("Tt ", &rest), let hour = two(&rest), skip(":", &rest), let minute = two(&rest), skip(":", &rest), let second = two(&rest),
      1...12 ~= month, 1...days(of: month, year) ~= day, hour < 24, minute < 60, second <= 60
    else { return nil }
    var part = Duration.zero
    if rest.first == UInt8(ascii: ".") {
      guard let fraction = fraction(&rest) else { return nil }
      part = fraction
    }
    guard let offset = offset(&rest), rest.isEmpty else { return nil }
    var time = unsafe tm()
    unsafe (time.tm_year, time.tm_mon, time.tm_mday) = (Int32(year - 1900), Int32(month - 1), Int32(day))
    unsafe (time.tm_hour, time.tm_min, time.tm_sec) = (Int32(hour), Int32(minute), Int32(second))
    return .seconds(unsafe timegm(&time) - offset) + part
  }

  /// Parses `Z`, or the hours and minutes by which the written time is ahead of UTC. In seconds.
  private static func offset(_ rest: inout ArraySlice<UInt8>) -> Int? {
    if skip("Zz", &rest) { return 0 }
    guard let sign = rest.first, skip("+-", &rest), let hours = two(&rest), skip(":", &rest), let minutes = two(&rest), hours < 24,
      minutes < 60
    else { return nil }
    return (sign == UInt8(ascii: "-") ? -1 : 1) * (hours * 3_600 + minutes * 60)
  }

  private static func days(of month: Int, _ year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// Parses a point and at least one digit. Digits after the ninth are ignored.
  private static func fraction(_ rest: inout ArraySlice<UInt8>) -> Duration? {
    guard skip(".", &rest) else { return nil }
    let digits = digits(&rest)
    guard !digits.isEmpty else { return nil }
    let nine = digits.prefix(9) + Array(repeating: UInt8(ascii: "0"), count: max(0, 9 - digits.count))
    return number(nine[...]).map { .nanoseconds($0) }
  }

  /// Parses two digits, or four.
  private static func two(_ rest: inout ArraySlice<UInt8>, twice: Bool = false) -> Int? {
    var head = rest.prefix(twice ? 4 : 2)
    let digits = digits(&head)
    guard digits.count == (twice ? 4 : 2) else { return nil }
    rest = rest.dropFirst(digits.count)
    return number(digits)
  }

  private static func digits(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    rest = rest.dropFirst(digits.count)
    return digits
  }

  private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
    Int(String(decoding: digits, as: UTF8.self))
  }

  private static func skip(_ bytes: StaticString, _ rest: inout ArraySlice<UInt8>) -> Bool {
    guard let first = rest.first, bytes.description.utf8.contains(first) else { return false }
    rest = rest.dropFirst()
    return true
  }
}
