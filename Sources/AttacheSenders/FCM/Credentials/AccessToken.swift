internal import Attache

/// An access token, which Google issues for about an hour.
struct AccessToken {
  /// Printable ASCII without blanks.
  let value: String
  /// The number of tokens before it, and itself. Each request records the one that it was sent with.
  let number: Int
  /// When it ends, as the machine's uptime.
  private let endsAt: Duration
  /// When the next one should be requested, as the machine's uptime.
  private let dueAt: Duration

  /// How long before its end a token is renewed, if it lives for twice as long.
  private static let margin = Duration.seconds(300)
  /// The life of a token whose answer gives none, in seconds: as long as Google's.
  private static let usualLife = 3_600
  /// The longest token in bytes; Google's have about 1,000.
  private static let maximumLength = 16_384

  /// Reads the answer of the server that issues tokens (RFC 6749, 5.1).
  ///
  /// - Parameter now: the machine's uptime when the token was requested.
  init?(_ reply: HTTPReply, number: Int, at now: Duration, _ parser: JSONParser) {
    guard reply.status == 200, let root = parser.parse(copying: reply.body), let text = root.member("access_token")?.text,
      1...Self.maximumLength ~= text.utf8.count, text.utf8.allSatisfy({ 0x21...0x7E ~= $0 })
    else { return nil }
    let life = Duration.seconds(min(max(root.member("expires_in")?.integer ?? Self.usualLife, 0), 86_400))
    (value, self.number, endsAt) = (text.string, number, now + life)
    dueAt = endsAt - min(Self.margin, life / 2)
  }

  /// Whether it can be used.
  func isUsable(at now: Duration) -> Bool { now < endsAt }

  /// Whether the next one should be requested.
  func isDue(at now: Duration) -> Bool { now >= dueAt }

  /// Returns why an answer contains no token, in one line.
  static func refusal(_ reply: HTTPReply, _ parser: JSONParser) -> String {
    let root = parser.parse(copying: reply.body)
    let words = ["error", "error_description"].compactMap { root?.member($0)?.text.map { PrintableText.of($0.string) } }
    // The body of a success may contain a token.
    let excerpt = 200...299 ~= reply.status ? "" : HTTPAnswer.excerpt(of: reply.body)
    let text = words.isEmpty ? excerpt : words.joined(separator: ", ")
    let advice = 400...499 ~= reply.status ? "; check the key of --fcm-service-account, and this machine's clock" : ""
    return "status \(reply.status)" + (text.isEmpty ? "" : " (\(text))") + advice
  }
}
