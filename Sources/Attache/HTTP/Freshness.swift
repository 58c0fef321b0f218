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
