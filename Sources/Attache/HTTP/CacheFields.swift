/// The header fields that control the reuse of a response, parsed to numbers as the lines arrive.
struct CacheFields: Hashable, Sendable {
  /// nil when the response has no such field.
  var control: CacheControl?
  /// The seconds that the response has spent in caches (RFC 9111, 5.1). Of several values, the
  /// largest counts.
  var age: Int64?
  var date: HTTPDate?
  /// Of several dates, the earliest counts. An invalid date counts as expired (RFC 9111, 5.3).
  var expires: HTTPDate?
  var lastModified: HTTPDate?
  /// Whether the response varies by something outside the request (`Vary: *`). All requests of
  /// attache are alike, so any other Vary matches (RFC 9111, 4.1).
  var variesByAnything = false
  /// Whether the response has different entity tags.
  var tagsDiffer = false

  /// Parses one field line.
  ///
  /// - Parameter name: the field name, in lower case.
  mutating func add(_ name: String, _ value: UnsafeRawBufferPointer) {
    switch name {
    case "cache-control":
      var control = control ?? CacheControl()
      control.add(unsafe Array(value))
      self.control = control
    case "age": age = Self.deltaSeconds(unsafe Array(value)[...]).map { max($0, age ?? 0) } ?? age
    case "date": date = unsafe HTTPDate(value)
    case "expires":
      let read = unsafe HTTPDate(value) ?? HTTPDate(seconds: 0)
      expires = expires.map { $0.seconds < read.seconds ? $0 : read } ?? read
    case "last-modified": lastModified = unsafe HTTPDate(value)
    case "vary": variesByAnything = unsafe variesByAnything || value.contains(UInt8(ascii: "*"))
    default: break
    }
  }

  /// Whether a shared cache may store a 200 with these fields (RFC 9111, section 3). attache's
  /// requests have no Authorization field.
  var mayBeKept: Bool {
    control?.noStore != true && control?.isPrivate != true && !variesByAnything
  }

  /// Whether the response says that it is for its recipient alone, or that nobody may store it.
  var isPrivate: Bool { control?.isPrivate == true || control?.noStore == true }

  /// Returns the fields after a 304. Its fields replace the stored ones (RFC 9111, 3.2 and 4.3.4).
  /// Its `age`, `date` and `tagsDiffer` replace them even when they are absent.
  func refreshed(by answer: CacheFields) -> CacheFields {
    CacheFields(
      control: answer.control ?? control, age: answer.age, date: answer.date, expires: answer.expires ?? expires,
      lastModified: answer.lastModified ?? lastModified, variesByAnything: answer.variesByAnything || variesByAnything,
      tagsDiffer: answer.tagsDiffer)
  }

  /// Parses a number of seconds. A number above ``CacheControl/maximumSeconds`` becomes that
  /// maximum (RFC 9111, 1.2.2). Returns nil when the text is not a number.
  static func deltaSeconds(_ text: ArraySlice<UInt8>) -> Int64? {
    guard !text.isEmpty else { return nil }
    var seconds: Int64 = 0
    for byte in text {
      guard let digit = byte.decimalDigit else { return nil }
      seconds = min(seconds * 10 + Int64(digit), CacheControl.maximumSeconds)
    }
    return seconds
  }
}
