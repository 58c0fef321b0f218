public import Attache

/// A result that is leased to a deliverer, on its way to a sender.
public struct Delivery: Hashable, Sendable {
  /// Its payload's number in the queue, and the fence of this lease.
  public var token: LeaseToken
  /// What leaves for the payload, with its line ending.
  public var line: [UInt8]
  public var outcome: Outcome
  public var reason: Reason?
  /// Which try it is, from 1: one more than the tries that were answered with a retry or not at
  /// all.
  public var attempt: Int
  /// Since 1970, as the sender of the payload wrote it; nil where it never expires.
  public var expiresAt: Duration?
  /// How many senders ended while they had it unanswered.
  public var deaths: Int
  /// How many of them had nothing else.
  public var deathsAlone: Int

  public init(
    token: LeaseToken, line: [UInt8], outcome: Outcome, reason: Reason?, attempt: Int, expiresAt: Duration?, deaths: Int, deathsAlone: Int
  ) {
    self.token = token
    self.line = line
    self.outcome = outcome
    self.reason = reason
    self.attempt = attempt
    self.expiresAt = expiresAt
    self.deaths = deaths
    self.deathsAlone = deathsAlone
  }
}

/// What a sender says of a result that it was given.
public enum DeliveryAnswer: Hashable, Sendable {
  /// It is with the recipient's service. The status is a code such as `200`; nil where the sender
  /// names none.
  case delivered(status: String? = nil)
  /// It may be delivered later: the next try comes after the span, or after a growing pause where
  /// there is none.
  case retry(after: Duration?, reason: String)
  /// It will never be delivered; one line says why.
  case dropped(reason: String)
  /// The sender ended, or was stopped, before it answered; one line says how.
  case senderEnded(reason: String)
  /// The sender ended in good order before it answered, or was never given the result: this is no
  /// try.
  case unanswered
  /// No result would be taken as things are, such as with a wrong key: the deliverer pauses, and
  /// this is no try. One line says what to do.
  case refused(reason: String)
}

/// Sends results to somebody: a command, an HTTP endpoint, or Apple.
public protocol Sender: AnyObject, Sendable {
  /// Begins to send; called once, before anything else.
  ///
  /// - Parameter owner: hears what becomes of the results.
  /// - Throws: what says, in words for its user, why it cannot begin.
  func start(_ owner: any SenderOwner) throws

  /// Sends results. It does not block, and may be called from within an answer. Each is answered
  /// exactly once, from any thread.
  func send(_ deliveries: [Delivery])

  /// Gives back what it has not begun to send, as `unanswered`, and begins nothing more. Called at
  /// most once, when the deliverer is stopped.
  func drain()

  /// Gives up what is unanswered: each is answered at once, as `unanswered` where it has no other
  /// answer. Called at most once, at the end, when the span for answers has passed or the user
  /// wants no more waiting.
  func cancel()

  /// Ends what it has started, once everything is answered; nothing else is called after it.
  func close()
}

extension Sender {
  /// For a sender that begins with each result at once.
  public func drain() {}
}

/// Who has a sender send.
public protocol SenderOwner: AnyObject, Sendable {
  /// Takes answers. Safe from any thread.
  func take(_ answers: [(token: LeaseToken, answer: DeliveryAnswer)])

  /// Takes what the user should know, in one line. Safe from any thread.
  func notify(_ notice: String)

  /// Notes that a sender was started again. Safe from any thread.
  func restarted()
}
