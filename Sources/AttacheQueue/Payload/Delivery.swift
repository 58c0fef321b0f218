public import Attache

/// A result that is leased to a deliverer and sent by a sender.
public struct Delivery: Hashable, Sendable {
  /// The payload's number in the queue, and the fence of this lease.
  public var token: LeaseToken
  /// The output line, with its line ending.
  public var line: [UInt8]
  /// What became of the payload.
  public var outcome: Outcome
  /// Why the payload has this outcome; nil when there is no reason.
  public var reason: Reason?
  /// The number of this attempt, from 1: one more than the earlier attempts that were answered with
  /// a retry, or during which the sender ended.
  public var attempt: Int
  /// The expiry that the sender of the payload chose, since 1970; nil when there is none.
  public var expiresAt: Duration?
  /// The number of senders that ended before they answered this result.
  public var deaths: Int
  /// The number of those senders that had no other unanswered result.
  public var deathsAlone: Int
  /// How long its attempts have failed so far, while the service accepted others. Between two attempts,
  /// at most ``longestPause`` counts.
  public var triedFor = Duration.zero
  /// The report's record: one JSON object with a line feed. Read only for a sender that wants it
  /// (``DeliveryRequest/includesFiles``).
  public var record: [UInt8] = []
  /// The name of the file that the payload comes from. Read like the record.
  public var name: String?

  /// Creates a delivery without record and name.
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

extension Delivery {
  /// The longest pause between two attempts that counts in ``triedFor``: the longest that a deliverer
  /// makes by itself.
  package static let longestPause = RetrySchedule.longest

  /// Returns the pause before the next attempt, for an answer that names none.
  ///
  /// - Parameters:
  ///   - wall: the wall clock time since 1970.
  ///   - jitter: a random fraction in 0…1.
  func retryDelay(wall: Duration, jitter: Double) -> Duration {
    let schedule = RetrySchedule(attempts: .max)
    let remaining = expiresAt.map { $0 - wall }
    return schedule.delay(after: attempt, remaining: remaining, jitter: jitter) ?? max(.milliseconds(1), remaining ?? .zero)
  }
}

/// A sender's answer to a result.
public enum DeliveryAnswer: Hashable, Sendable {
  /// The recipient's service accepted the result. The status is a code such as `200`; nil when the
  /// sender has none.
  case delivered(status: String? = nil)
  /// The recipient's service accepted a part of the result, which must not be sent again. The status
  /// says what it refused; details follow its first colon.
  case partlyDelivered(status: String)
  /// The result may be delivered later: after the span, or after a growing pause when there is
  /// none.
  case retry(after: Duration?, reason: String)
  /// The result can never be delivered. The reason is one line.
  case dropped(reason: String)
  /// The service rejects the result with an answer that it may give to every result, for example for
  /// a wrong password. The deliverer drops the result when the service accepts another one, and pauses
  /// when it rejects all. The reason is one line; details follow its first colon.
  case rejected(reason: String)
  /// The sender ended, or was stopped, before it answered. The reason is one line.
  case senderEnded(reason: String)
  /// The sender ended in good order before it answered, or never got the result. This does not
  /// count as an attempt.
  case unanswered
  /// The sender can send no result now, for example because of a wrong key. The deliverer pauses,
  /// and this does not count as an attempt. The reason says what to do, in one line.
  case refused(reason: String)
}

/// Sends results to a command, an HTTP endpoint, or Apple.
public protocol Sender: AnyObject, Sendable {
  /// Whether it writes files, which needs the record and the name of each result.
  var wantsFiles: Bool { get }

  /// Starts the sender. Called once, before anything else.
  ///
  /// - Parameter owner: receives the answers.
  /// - Throws: an error whose description tells the user why the sender cannot start.
  func start(_ owner: any SenderOwner) throws

  /// Sends results. Does not block, and may be called while an answer is handled. Each result is
  /// answered exactly once, from any thread.
  func send(_ deliveries: [Delivery])

  /// Gives back the results that it has not started to send, as `unanswered`, and starts no others.
  /// Called at most once, when the deliverer is stopped.
  func drain()

  /// Answers all unanswered results at once, as `unanswered` unless they have another answer.
  /// Called at most once, at the end, when the time for answers has passed or the user does not
  /// want to wait.
  func cancel()

  /// Ends what the sender has started, after everything is answered. The last call.
  func close()
}

extension Sender {
  /// False, for a sender that sends payloads.
  public var wantsFiles: Bool { false }

  /// Does nothing, for a sender that starts to send each result at once.
  public func drain() {}
}

/// The owner of a sender, which receives its answers.
public protocol SenderOwner: AnyObject, Sendable {
  /// Handles answers. Safe from any thread.
  func take(_ answers: [(token: LeaseToken, answer: DeliveryAnswer)])

  /// Reports a message for the user, in one line. Safe from any thread.
  func notify(_ notice: String)

  /// Records that the service's quota is used up, before the answer that says so: fewer results are sent per
  /// second for a while. Safe from any thread.
  func slowDown()

  /// Records that a sender was started again. Safe from any thread.
  func restarted()
}
