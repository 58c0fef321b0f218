internal import Attache

/// A stage of a queue that an operator has paused, for all machines.
public struct QueuePause: Hashable, Sendable {
  /// What is paused.
  public var stage: PayloadEvent.Stage
  /// The wall clock time of the pause, since 1970.
  public var since: Duration
  /// The operator's reason, in one line; nil when none was given.
  public var reason: String?

  /// How often a worker or a deliverer looks whether the pause is over.
  package static let poll = Duration.milliseconds(250)

  /// Creates a pause from all of its properties.
  public init(_ stage: PayloadEvent.Stage, since: Duration, reason: String?) {
    (self.stage, self.since, self.reason) = (stage, since, reason)
  }

  /// The message of a worker or a deliverer.
  ///
  /// - Parameter done: what is not done, such as "delivered".
  func message(_ done: String) -> String {
    let why = reason.map { " (\(PrintableText.of($0)))" } ?? ""
    return "the queue is paused\(why): nothing is \(done) until `attache resume`"
  }
}

extension PayloadEvent.Stage {
  /// The name for people and programs.
  package var name: String {
    switch self {
    case .work: "work"
    case .delivery: "delivery"
    }
  }
}
