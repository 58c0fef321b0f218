/// Calculates how long a response may be reused without asking its origin (RFC 9111, section 4.2).
/// The functions are pure: they use only the response's fields and the times of the exchange. Times
/// are wall-clock times since 1970.
enum Freshness {
  /// The shortest lifetime of a response without an explicit one. A campaign names one picture a
  /// million times within minutes, perhaps from an origin that sends no caching fields. One request
  /// a minute detects a change soon enough.
  static let shortestGuess = Duration.seconds(60)
  /// The longest lifetime of such a response. Browsers and proxies also use one day.
  static let longestGuess = Duration.seconds(86_400)
  /// The divisor for a guessed lifetime: a response lasts a tenth of the time since its last change
  /// (RFC 9111, 4.2.2).
  private static let guessedFraction = 10
  /// The resolution of Date and Age. HTTP cannot show whether an event within one second of an
  /// answer is later than the answer. A temporary redirect is reused for this long, so that a
  /// campaign behind one sends one request per second, not one per payload.
  static let grain = Duration.seconds(1)

  /// The times of an exchange.
  struct Exchange: Hashable, Sendable {
    /// When the request was sent.
    var asked: Duration
    /// When the head of the response was complete.
    var answered: Duration
  }

  /// Returns when a stored 200 becomes stale. With `no-cache`, this is `answered`, so that each use
  /// is validated.
  static func expiry(of fields: CacheFields, _ exchange: Exchange) -> Duration {
    guard fields.control?.noCache != true else { return exchange.answered }
    return exchange.answered + lifetime(of: fields, answered: exchange.answered) - age(of: fields, exchange)
  }

  /// Returns how long a redirect may be reused, counted from `answered`. Zero or less means that it
  /// may not be reused.
  ///
  /// 301 and 308 may be cached for a guessed lifetime; 302, 303 and 307 only for an explicit one
  /// (RFC 9110, 15.1 and 15.4). Without an explicit lifetime, the latter last for ``grain``.
  static func redirectLifetime(_ status: Int, _ fields: CacheFields, _ exchange: Exchange) -> Duration {
    guard fields.mayBeKept, fields.control?.noCache != true else { return .zero }
    let guess = status == 301 || status == 308 ? shortestGuess : grain
    let lifetime = explicitLifetime(of: fields, answered: exchange.answered)
    return lifetime.map { $0 - age(of: fields, exchange) } ?? guess
  }

  /// Returns the lifetime (RFC 9111, 4.2.1), or a guess when no field specifies it (4.2.2).
  static func lifetime(of fields: CacheFields, answered: Duration) -> Duration {
    if let lifetime = explicitLifetime(of: fields, answered: answered) { return lifetime }
    guard let modified = fields.lastModified else { return shortestGuess }
    let made = fields.date?.seconds ?? answered.components.seconds
    return min(max(.seconds(max(0, made - modified.seconds)) / guessedFraction, shortestGuess), longestGuess)
  }

  /// Returns s-maxage, else max-age, else Expires minus Date, else nil.
  private static func explicitLifetime(of fields: CacheFields, answered: Duration) -> Duration? {
    if let seconds = fields.control?.sharedMaximumAge ?? fields.control?.maximumAge { return .seconds(seconds) }
    guard let expires = fields.expires else { return nil }
    // A response without a Date counts as created when it arrived (RFC 9110, 6.6.1).
    return .seconds(min(max(0, expires.seconds - (fields.date?.seconds ?? answered.components.seconds)), CacheControl.maximumSeconds))
  }

  /// Returns the age of the response when it arrived (RFC 9111, 4.2.3).
  static func age(of fields: CacheFields, _ exchange: Exchange) -> Duration {
    // Compare whole seconds, because Date has whole seconds.
    let apparent = fields.date.map { max(0, exchange.answered.components.seconds - $0.seconds) } ?? 0
    // A wall clock that was set back during the exchange must not make the response younger.
    let delay = max(.zero, exchange.answered - exchange.asked)
    return max(.seconds(apparent), .seconds(fields.age ?? 0) + delay)
  }
}

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

/// The Cache-Control directives of a response that apply to a shared cache (RFC 9111, section
/// 5.2.2).
///
/// When directives contradict each other, or one is repeated, the stricter one applies. A directive
/// with a list of field names (`private="…"`, `no-cache="…"`) counts as one without the list,
/// as the RFC permits.
struct CacheControl: Hashable, Sendable {
  /// The longest lifetime, in seconds (RFC 9111, 1.2.2). Larger values are reduced to it.
  static let maximumSeconds: Int64 = 1 << 31

  var noStore = false
  var isPrivate = false
  var noCache = false
  /// The value of `max-age` in seconds. An invalid value counts as 0, so that the response is stale
  /// (RFC 9111, 4.2.1).
  var maximumAge: Int64?
  /// The value of `s-maxage` in seconds. A shared cache uses it instead of `max-age`.
  var sharedMaximumAge: Int64?

  /// Parses the value of one field line. The values of several lines are combined.
  mutating func add(_ value: [UInt8]) {
    var rest = value[...]
    while let directive = Self.nextMember(&rest) {
      let name = directive.prefix { $0 != UInt8(ascii: "=") }
      let argument = directive[name.endIndex...].dropFirst()
      if Self.names(name, "no-store") {
        noStore = true
      } else if Self.names(name, "private") {
        isPrivate = true
      } else if Self.names(name, "no-cache") {
        noCache = true
      } else if Self.names(name, "max-age") {
        maximumAge = min(maximumAge ?? .max, Self.seconds(argument))
      } else if Self.names(name, "s-maxage") {
        sharedMaximumAge = min(sharedMaximumAge ?? .max, Self.seconds(argument))
      }
    }
  }

  /// Returns the next member of a list (RFC 9110, 5.6.1) without the blanks around it. A comma
  /// within quotes does not end a member.
  private static func nextMember(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    while let first = rest.first, first == UInt8(ascii: ",") || first.isBlank { rest.removeFirst() }
    guard !rest.isEmpty else { return nil }
    var (end, isQuoted, isEscaped) = (rest.startIndex, false, false)
    while end < rest.endIndex, isQuoted || rest[end] != UInt8(ascii: ",") {
      if rest[end] == UInt8(ascii: "\""), !isEscaped { isQuoted.toggle() }
      isEscaped = isQuoted && !isEscaped && rest[end] == UInt8(ascii: "\\")
      end += 1
    }
    var member = rest[..<end]
    rest = rest[end...]
    while member.last?.isBlank == true { member.removeLast() }
    return member
  }

  /// Parses delta seconds (RFC 9111, 1.2.2), with or without quotes. An invalid value counts as 0.
  private static func seconds(_ argument: ArraySlice<UInt8>) -> Int64 {
    let quote = UInt8(ascii: "\"")
    let isQuoted = argument.count >= 2 && argument.first == quote && argument.last == quote
    return CacheFields.deltaSeconds(isQuoted ? argument.dropFirst().dropLast() : argument) ?? 0
  }

  /// Returns whether the bytes equal this name, ignoring case.
  private static func names(_ bytes: ArraySlice<UInt8>, _ name: StaticString) -> Bool {
    unsafe bytes.count == name.utf8CodeUnitCount
      && zip(bytes, UnsafeBufferPointer(start: name.utf8Start, count: bytes.count)).allSatisfy { $0.lowercasedASCII == $1 }
  }
}
