/// What the header of a response says about its reuse, read to numbers while it comes by.
struct CacheFields: Hashable, Sendable {
  /// nil without such a field.
  var control: CacheControl?
  /// Seconds that it has spent in caches (RFC 9111, 5.1); of several the largest.
  var age: Int64?
  var date: HTTPDate?
  /// Of several the earliest. One that is no date has passed (RFC 9111, 5.3).
  var expires: HTTPDate?
  var lastModified: HTTPDate?
  /// Whether it varies by what no request says (`Vary: *`). attache's requests are all alike, so
  /// that any other Vary matches (RFC 9111, 4.1).
  var variesByAnything = false
  /// Whether there are entity tags that contradict each other.
  var tagsDiffer = false

  /// Takes one field line.
  ///
  /// - Parameter name: in lower case.
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

  /// Whether a shared cache may keep a 200 with these fields (RFC 9111, section 3). attache's
  /// requests bear no Authorization.
  var mayBeKept: Bool {
    control?.noStore != true && control?.isPrivate != true && !variesByAnything
  }

  /// The fields after a 304: its own replace those that were kept (RFC 9111, 3.2 and 4.3.4). What
  /// it took on its way is its own too.
  func refreshed(by answer: CacheFields) -> CacheFields {
    CacheFields(
      control: answer.control ?? control, age: answer.age, date: answer.date, expires: answer.expires ?? expires,
      lastModified: answer.lastModified ?? lastModified, variesByAnything: answer.variesByAnything || variesByAnything,
      tagsDiffer: answer.tagsDiffer)
  }

  /// A number of seconds; one that is larger than can be kept is as large as can be (RFC 9111,
  /// 1.2.2), and nil is none.
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
