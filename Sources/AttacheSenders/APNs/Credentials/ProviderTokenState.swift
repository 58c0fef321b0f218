/// The current token, and when the next one is due. It has no side effects.
///
/// Apple rejects tokens that are older than an hour, and tokens that change more than once in 20
/// minutes. So each token is issued at the start of a slot of 20 minutes and used until its end: all
/// processes with a right clock have tokens with equal claims. Their signatures differ, since those of ECDSA
/// are random. Apple does not document what it compares.
///
/// Source:
/// https://developer.apple.com/documentation/usernotifications/establishing-a-token-based-connection-to-apns
struct ProviderTokenState {
  /// The length of a slot, in seconds.
  private static let slot: Int64 = 20 * 60
  /// The age up to which a token is used if no other can be signed.
  private static let lifetime = Duration.seconds(40 * 60)
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
  /// The time in the token, since 1970.
  private var issuedAt = Duration.zero
  /// When Apple last called a token expired before its lifetime ended.
  private var rejectedAt: Duration?

  /// Whether a token must be made now. The caller makes it and calls ``take(_:at:)``.
  ///
  /// - Parameter wall: the time since 1970.
  func isDue(at wall: Duration) -> Bool { value == nil || Self.start(at: wall) != issuedAt }

  /// Whether the last token may still be used although the next one is due.
  func isUsable(at wall: Duration) -> Bool { value != nil && (.zero...Self.lifetime).contains(wall - issuedAt) }

  /// The start of the slot of a time since 1970, which is when its token is issued.
  static func start(at wall: Duration) -> Duration { .seconds(max(0, wall.components.seconds) / slot * slot) }

  mutating func take(_ token: [UInt8], at wall: Duration) {
    (value, issuedAt) = (token, Self.start(at: wall))
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
