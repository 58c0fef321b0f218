internal import Attache

/// The name of an answer, which is the same for many results.
enum AnswerName {
  /// The maximum length, in bytes.
  static let maximumLength = 60

  /// Returns the name of an answer: its text before the first `: `, which details follow.
  static func of(_ text: String) -> String {
    let bytes = Array(text.utf8.prefix(maximumLength + 2))
    let end = bytes.indices.first { bytes[$0...].starts(with: ": ".utf8) } ?? bytes.count
    let name = PrintableText.of(String(decoding: bytes.prefix(min(end, maximumLength)), as: UTF8.self))
    return end > maximumLength ? name + "…" : name
  }
}

/// Counts answers by their names, and says what the user should know of them: the first failure of
/// each name at once, and then once a minute how many there were. It makes messages; ``Deliverer``
/// logs them.
struct AnswerLedger: Sendable {
  /// What became of a result that was not accepted.
  enum Failure: String, Sendable {
    case dropped
    case partlyRefused = "partly refused"
    case retried = "tried again later"
    case givenUp = "given up (--give-up-after)"
    case expired
    case poison = "given up"
  }

  private struct Key: Hashable {
    var failure: Failure
    var name: String
  }

  private struct Told {
    var at: MonotonicInstant
    /// The failures since then.
    var count = 0
  }

  /// Names come from strangers. Those beyond this number share one.
  static let maximumNames = 32
  static let otherName = "other answers"
  private static let interval = Duration.seconds(60)

  /// The number of answers by name.
  private(set) var counts: [String: Int] = [:]
  private var told: [Key: Told] = [:]

  /// Counts an answer, and makes the message about a failure, if it is due.
  ///
  /// - Parameters:
  ///   - text: the answer. Details follow a colon.
  ///   - failure: nil if the result was accepted.
  mutating func note(_ text: String, to token: LeaseToken, _ failure: Failure?, at now: MonotonicInstant) -> String? {
    counts[name(of: text), default: 0] += 1
    return failure.flatMap { tell(text, to: token, $0, at: now) }
  }

  private func name(of text: String) -> String {
    let name = AnswerName.of(text)
    return counts[name] == nil && counts.count >= Self.maximumNames ? Self.otherName : name
  }

  /// Makes the message about a failure whose answer was counted before, if it is due.
  mutating func tell(_ text: String, to token: LeaseToken, _ failure: Failure, at now: MonotonicInstant) -> String? {
    let name = name(of: text)
    let key = Key(failure: failure, name: name)
    if let told = told[key], told.at.duration(to: now) < Self.interval || told.count > 0 {
      self.told[key]?.count += 1
      return nil
    }
    told[key] = Told(at: now)
    return "payload \(token.id) is \(failure.rawValue): \(PrintableText.of(text))"
  }

  /// When ``due(at:)`` has a message; nil if no failure is untold.
  var nextDue: MonotonicInstant? {
    told.values.lazy.filter { $0.count > 0 }.map { $0.at.advanced(by: Self.interval) }.min()
  }

  /// Returns the messages about failures that were not told in the last minute.
  ///
  /// - Parameter isOver: whether the run ends, so that all are told.
  mutating func due(at now: MonotonicInstant, isOver: Bool = false) -> [String] {
    var messages: [String] = []
    for (key, entry) in told where entry.count > 0 && (isOver || entry.at.duration(to: now) >= Self.interval) {
      let payloads = entry.count == 1 ? "1 more payload is" : "\(entry.count) more payloads are"
      let seconds = Int((entry.at.duration(to: now) / .seconds(1)).rounded())
      messages.append("\(payloads) \(key.failure.rawValue), in \(seconds) s: \(key.name)")
      told[key] = Told(at: now)
    }
    return messages.sorted()
  }
}
