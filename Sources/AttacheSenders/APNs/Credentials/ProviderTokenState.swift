/// The token at hand, and when another one is due. It decides and does nothing.
///
/// Apple refuses tokens that are older than an hour, and those that change more than once in 20
/// minutes.
///
/// Source:
/// https://developer.apple.com/documentation/usernotifications/establishing-a-token-based-connection-to-apns
struct ProviderTokenState {
  /// How old a token gets.
  static let lifetime = Duration.seconds(40 * 60)
  /// How soon a token may follow another one.
  static let shortestInterval = Duration.seconds(20 * 60)

  /// What happens to a request whose token Apple calls expired.
  enum Rejection: Equatable {
    /// It is sent again, with the token at hand or, when that is nil, with the next one.
    case sendAgain
    /// The token was new: this machine's clock must be wrong, or Apple's answer.
    case refuse
  }

  /// The value of the header `authorization`; nil until there is one.
  private(set) var value: [UInt8]?
  /// How many tokens there were: requests remember by which one they were sent.
  private(set) var number = 0
  private(set) var isBeingMade = false
  /// By the uptime of the machine.
  private var madeAt = Duration.zero
  /// When Apple last called a token expired that was to be used for longer.
  private var rejectedAt: Duration?

  /// Whether a token is to be made now; the caller makes it and calls ``take(_:at:)`` or
  /// ``fail()``.
  ///
  /// - Parameter now: the uptime of the machine.
  mutating func begins(at now: Duration) -> Bool {
    guard !isBeingMade, value == nil || now - madeAt >= Self.lifetime else { return false }
    isBeingMade = true
    return true
  }

  mutating func take(_ token: [UInt8], at now: Duration) {
    (value, madeAt, isBeingMade) = (token, now, false)
    number += 1
  }

  /// The token could not be made.
  mutating func fail() {
    isBeingMade = false
  }

  /// Notes that Apple has called a token expired.
  ///
  /// - Parameters:
  ///   - number: that of the token that the request was sent with.
  ///   - now: the uptime of the machine.
  mutating func reject(_ number: Int, at now: Duration) -> Rejection {
    guard number == self.number, value != nil else { return .sendAgain }
    if let rejectedAt, now - rejectedAt < Self.shortestInterval { return .refuse }
    (rejectedAt, value) = (now, nil)
    return .sendAgain
  }
}
