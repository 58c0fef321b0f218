/// The current token, and when the next one is due. It has no side effects.
///
/// Apple rejects tokens that are older than an hour, and tokens that change more than once in 20
/// minutes.
///
/// Source:
/// https://developer.apple.com/documentation/usernotifications/establishing-a-token-based-connection-to-apns
struct ProviderTokenState {
  /// The age at which a token is replaced.
  static let lifetime = Duration.seconds(40 * 60)
  /// The shortest time between two tokens that replace expired ones.
  static let shortestInterval = Duration.seconds(20 * 60)

  /// What happens to a request whose token Apple calls expired.
  enum Rejection: Equatable {
    /// It is sent again with the current token or, when that is nil, with the next one.
    case sendAgain
    /// The token was new, so this machine's clock or Apple's answer is wrong.
    case refuse
  }

  /// The value of the header `authorization`; nil while there is no token.
  private(set) var value: [UInt8]?
  /// The number of tokens so far. Each request records the one that it was sent with.
  private(set) var number = 0
  /// The uptime of the machine when the token was made.
  private var madeAt = Duration.zero
  /// When Apple last called a token expired before its lifetime ended.
  private var rejectedAt: Duration?

  /// Whether a token must be made now. The caller makes it and calls ``take(_:at:)``.
  ///
  /// - Parameter now: the uptime of the machine.
  func isDue(at now: Duration) -> Bool {
    value == nil || now - madeAt >= Self.lifetime
  }

  mutating func take(_ token: [UInt8], at now: Duration) {
    (value, madeAt) = (token, now)
    number += 1
  }

  /// Records that Apple called a token expired.
  ///
  /// - Parameters:
  ///   - number: the number of the token that the request was sent with.
  ///   - now: the uptime of the machine.
  mutating func reject(_ number: Int, at now: Duration) -> Rejection {
    guard number == self.number, value != nil else { return .sendAgain }
    if let rejectedAt, now - rejectedAt < Self.shortestInterval { return .refuse }
    (rejectedAt, value) = (now, nil)
    return .sendAgain
  }
}
