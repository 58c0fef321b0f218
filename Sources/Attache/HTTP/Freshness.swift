/// How long a response may be used again without asking its origin (RFC 9111, section 4.2): pure
/// functions of its fields and of the moments of its exchange. Moments are of the wall clock, since
/// 1970.
enum Freshness {
  /// The least that a response without an explicit lifetime is used again. A campaign names one
  /// picture a million times, over minutes and perhaps by an origin that says nothing of caching:
  /// one request a minute tells of a change soon enough.
  static let shortestGuess = Duration.seconds(60)
  /// The most: what browsers and proxies of the field take is a day too.
  static let longestGuess = Duration.seconds(86_400)
  /// What of the time since its last change a response is taken to last (RFC 9111, 4.2.2).
  private static let guessedFraction = 10
  /// The grain of Date and Age: what comes within a second of an answer is no later than it, as far
  /// as HTTP can tell. A temporary redirect is followed this long without asking again, so that a
  /// campaign behind one is one request a second, not one a payload.
  static let grain = Duration.seconds(1)

  /// The moments of an exchange.
  struct Exchange: Hashable, Sendable {
    /// When the request was sent.
    var asked: Duration
    /// When the head of the response had come.
    var answered: Duration
  }

  /// When a kept 200 becomes stale; not after `answered` for one that is to be validated each time.
  static func expiry(of fields: CacheFields, _ exchange: Exchange) -> Duration {
    guard fields.control?.noCache != true else { return exchange.answered }
    return exchange.answered + lifetime(of: fields, answered: exchange.answered) - age(of: fields, exchange)
  }

  /// How long a redirect leads on without being asked for again, counted from `answered`; zero or
  /// less is not at all.
  ///
  /// 301 and 308 may be kept by a guess, 302, 303 and 307 for an explicit lifetime alone (RFC 9110,
  /// 15.1 and 15.4).
  static func redirectLifetime(_ status: Int, _ fields: CacheFields, _ exchange: Exchange) -> Duration {
    guard fields.mayBeKept, fields.control?.noCache != true else { return .zero }
    let guess = status == 301 || status == 308 ? shortestGuess : grain
    let lifetime = explicitLifetime(of: fields, answered: exchange.answered)
    return lifetime.map { $0 - age(of: fields, exchange) } ?? guess
  }

  /// The lifetime (RFC 9111, 4.2.1), guessed where nothing says it (4.2.2).
  static func lifetime(of fields: CacheFields, answered: Duration) -> Duration {
    if let lifetime = explicitLifetime(of: fields, answered: answered) { return lifetime }
    guard let modified = fields.lastModified else { return shortestGuess }
    let made = fields.date?.seconds ?? answered.components.seconds
    return min(max(.seconds(max(0, made - modified.seconds)) / guessedFraction, shortestGuess), longestGuess)
  }

  /// s-maxage, else max-age, else Expires less Date.
  private static func explicitLifetime(of fields: CacheFields, answered: Duration) -> Duration? {
    if let seconds = fields.control?.sharedMaximumAge ?? fields.control?.maximumAge { return .seconds(seconds) }
    guard let expires = fields.expires else { return nil }
    // A response without a Date was made when it came (RFC 9110, 6.6.1).
    return .seconds(min(max(0, expires.seconds - (fields.date?.seconds ?? answered.components.seconds)), CacheControl.maximumSeconds))
  }

  /// How old the response was when it came (RFC 9111, 4.2.3).
  static func age(of fields: CacheFields, _ exchange: Exchange) -> Duration {
    // Both in whole seconds, as Date is.
    let apparent = fields.date.map { max(0, exchange.answered.components.seconds - $0.seconds) } ?? 0
    // A wall clock that was set back meanwhile makes nothing younger.
    let delay = max(.zero, exchange.answered - exchange.asked)
    return max(.seconds(apparent), .seconds(fields.age ?? 0) + delay)
  }
}
