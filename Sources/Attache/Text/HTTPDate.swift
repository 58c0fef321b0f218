/// An HTTP date, in whole seconds since 1970 (RFC 9110, section 5.6.7).
struct HTTPDate: Hashable, Sendable {
  var seconds: Int64

  init(seconds: Int64) {
    self.seconds = seconds
  }

  /// The seconds of the years 0 to 9999, the years that an HTTP date can express.
  static let range: ClosedRange<Int64> = -62_167_219_200...253_402_300_799

  /// Parses any of the three formats: the current one, RFC 850's, and that of C's `asctime`.
  /// Returns nil for any other text.
  init?(_ text: UnsafeRawBufferPointer) {
    // The day of the week is redundant. After it come day, month, year, time and GMT, or month,
    // day, time and year.
    guard let start = unsafe text.firstIndex(where: { $0 == UInt8(ascii: " ") }), start >= 3 else { return nil }
    var fields = unsafe DateFields(text, from: start)
    let isC = unsafe text[start - 1] != UInt8(ascii: ",")
    guard let seconds = isC ? fields.readC() : fields.read() else { return nil }
    self.seconds = seconds
  }

  /// The date as it is sent: `Sun, 06 Nov 1994 08:49:37 GMT`.
  var text: String {
    let (days, time) = (seconds.flooredQuotient(86_400), seconds - seconds.flooredQuotient(86_400) * 86_400)
    let (year, month, day) = Self.civil(days)
    func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let clock = "\(two(time / 3600)):\(two(time / 60 % 60)):\(two(time % 60))"
    let weekday = Self.weekdays[Int((days % 7 + 11) % 7)]
    let digits = String(year)
    let years = String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    return "\(weekday), \(two(day)) \(Self.months[Int(month) - 1]) \(years) \(clock) GMT"
  }

  static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
  private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]

  /// Returns the days since 1970 of a date in the Gregorian calendar
  /// (https://howardhinnant.github.io/date_algorithms.html#days_from_civil).
  static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
    let year = month <= 2 ? year - 1 : year
    let era = year.flooredQuotient(400)
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  /// Returns the date of a number of days since 1970 (civil_from_days of the same page).
  private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = days + 719_468
    let era = shifted.flooredQuotient(146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let part = (5 * dayOfYear + 2) / 153
    let month = part < 10 ? part + 3 : part - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * part + 2) / 5 + 1)
  }
}

/// Parses the parts of a date in order.
@safe
private struct DateFields {
  private let text: UnsafeRawBufferPointer
  private let count: Int
  private var index: Int

  init(_ text: UnsafeRawBufferPointer, from index: Int) {
    unsafe self.text = unsafe text
    count = text.count
    self.index = index
  }

  /// Parses ` 06 Nov 1994 08:49:37 GMT` or ` 06-Nov-94 08:49:37 GMT`.
  mutating func read() -> Int64? {
    guard skip(" "), let day = number(2), let separator = next(), let month = month(), next() == separator else { return nil }
    let isShort = separator == UInt8(ascii: "-")
    guard let year = number(isShort ? 2 : 4), skip(" "), let time = time(), skip(" GMT"), isAtEnd else { return nil }
    return seconds(year: isShort ? Self.full(year) : year, month: month, day: day, time: time)
  }

  /// Parses ` Nov  6 08:49:37 1994`.
  mutating func readC() -> Int64? {
    guard skip(" "), let month = month(), skip(" "), let day = skip(" ") ? number(1) : number(2) else { return nil }
    guard skip(" "), let time = time(), skip(" "), let year = number(4), isAtEnd else { return nil }
    return seconds(year: year, month: month, day: day, time: time)
  }

  /// Returns the full year of a two-digit year, as strptime(3) reads `%y`.
  private static func full(_ year: Int64) -> Int64 {
    year < 69 ? 2000 + year : 1900 + year
  }

  private var isAtEnd: Bool { index == count }

  private mutating func next() -> UInt8? {
    guard index < count else { return nil }
    defer { index += 1 }
    return unsafe text[index]
  }

  private mutating func skip(_ expected: StaticString) -> Bool {
    let length = expected.utf8CodeUnitCount
    guard index + length <= count else { return false }
    for offset in 0..<length where unsafe text[index + offset] != expected.utf8Start[offset] { return false }
    index += length
    return true
  }

  private mutating func number(_ digits: Int) -> Int64? {
    guard index + digits <= count else { return nil }
    var value: Int64 = 0
    for offset in 0..<digits {
      guard let digit = unsafe text[index + offset].decimalDigit else { return nil }
      value = value * 10 + Int64(digit)
    }
    index += digits
    return value
  }

  private mutating func month() -> Int64? {
    guard index + 3 <= count else { return nil }
    guard let month = HTTPDate.months.firstIndex(where: { unsafe text[index..<index + 3].elementsEqual($0.utf8) }) else { return nil }
    index += 3
    return Int64(month) + 1
  }

  /// Parses `08:49:37` to seconds. A leap second counts as the first second of the next minute.
  private mutating func time() -> Int64? {
    guard let hour = number(2), skip(":"), let minute = number(2), skip(":"), let second = number(2),
      hour < 24, minute < 60, second <= 60
    else { return nil }
    return hour * 3600 + minute * 60 + second
  }

  private func seconds(year: Int64, month: Int64, day: Int64, time: Int64) -> Int64? {
    guard (1...31).contains(day) else { return nil }
    return HTTPDate.days(year: year, month: month, day: day) * 86_400 + time
  }
}

extension Int64 {
  /// Returns the quotient, rounded down.
  fileprivate func flooredQuotient(_ divisor: Int64) -> Int64 {
    let quotient = self / divisor
    return self % divisor < 0 ? quotient - 1 : quotient
  }
}
