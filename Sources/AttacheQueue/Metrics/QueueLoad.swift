internal import Attache
internal import AttacheMetrics

/// How the payloads without a result are distributed over priorities and workers, for an operator.
///
/// A queue counts what it finds by its indexes, and stops at ``countLimit``, so that a long queue is
/// as cheap to ask as a short one. Of payloads that wait, it reads ``sampleLimit`` at most, and
/// estimates the priorities of the others from these.
public struct QueueLoad: Hashable, Sendable {
  /// The state of a payload without a result.
  public enum State: String, CaseIterable, Sendable {
    /// It can be claimed now.
    case ready
    /// It is not due yet, or became due since the last claim.
    case waiting
    /// A worker holds it.
    case leased
  }

  /// The payloads of one state and priority.
  public struct Depth: Hashable, Sendable {
    /// From 1 to 10. Payloads of any other priority count with the nearest of these.
    public var priority: Int
    /// The state of the payloads.
    public var state: State
    /// The number of payloads, at least 1. From ``QueueLoad/countLimit`` on, it may be too low.
    public var count: Int

    /// Creates a depth from all of its properties.
    public init(priority: Int, state: State, count: Int) {
      (self.priority, self.state, self.count) = (priority, state, count)
    }
  }

  /// A worker or a deliverer that the queue knows.
  public struct Worker: Hashable, Sendable {
    /// Its name, which no other worker of the queue ever has.
    public var name: String
    /// The number of payloads that it holds; 0 for a deliverer.
    public var leases: Int
    /// Whether it is known to live. The leases of one that does not are taken over.
    public var isPresent: Bool

    /// Creates a worker from all of its properties.
    public init(name: String, leases: Int, isPresent: Bool) {
      (self.name, self.leases, self.isPresent) = (name, leases, isPresent)
    }
  }

  /// Commits that wait until another server has them.
  public struct Replication: Hashable, Sendable {
    /// The number of commits that wait now.
    public var waitingCommits: Int
    /// How long the first of them has waited; zero when none waits.
    public var longestWait: Duration

    /// Creates a wait from all of its properties.
    public init(waitingCommits: Int, longestWait: Duration) {
      (self.waitingCommits, self.longestWait) = (waitingCommits, longestWait)
    }
  }

  /// The number of payloads at which a queue stops counting ready ones of one priority, or leased
  /// ones.
  public static let countLimit = 10_000
  /// The number of waiting payloads of which a queue reads the priority. No index has it.
  public static let sampleLimit = 2_000
  /// The maximum number of workers that are named.
  public static let workerLimit = 64

  /// The states and priorities that have payloads, in any order.
  public var depths: [Depth] = []
  /// The workers that hold the most payloads, at most ``workerLimit``, and those that are present.
  public var workers: [Worker] = []
  /// Nil for a kind of queue that has no replication.
  public var replication: Replication?

  /// Creates the load of an empty queue without workers.
  public init() {}

  /// The number of payloads in a state, by priority.
  func count(_ state: State, priority: Int) -> Int {
    depths.reduce(0) { $0 + ($1.state == state && $1.priority == priority ? $1.count : 0) }
  }

  /// Adds payloads.
  ///
  /// - Parameter priority: any number.
  package mutating func add(_ count: Int, _ state: State, priority: Int) {
    let priority = min(max(priority, NewPayload.priorities.lowerBound), NewPayload.priorities.upperBound)
    if let index = depths.firstIndex(where: { $0.state == state && $0.priority == priority }) {
      depths[index].count += count
    } else if count > 0 {
      depths.append(Depth(priority: priority, state: state, count: count))
    }
  }
}

extension QueueLoad {
  /// Writes the metric families. Each state and priority has its sample, even with 0.
  func write(to text: inout MetricsText) {
    text.family(
      "attache_queue_depth", .gauge,
      "Payloads without a result, by state and priority; from \(Self.countLimit) on, a number may be too low.")
    for state in State.allCases {
      for priority in NewPayload.priorities.reversed() {
        text.sample(count(state, priority: priority), ["state": state.rawValue, "priority": "\(priority)"])
      }
    }
    text.family("attache_queue_workers", .gauge, "Workers and deliverers of the queue, by whether they are known to live.")
    for (name, isPresent) in [("yes", true), ("no", false)] {
      text.sample(workers.count { $0.isPresent == isPresent }, ["present": name])
    }
    if !workers.isEmpty {
      text.family(
        "attache_queue_leases", .gauge,
        "Payloads that a worker has leased, by its name in the queue; of at most \(Self.workerLimit) workers.")
      for worker in workers { text.sample(worker.leases, ["worker": worker.name]) }
    }
    guard let replication else { return }
    text.gauge(
      "attache_queue_replication_waiting_commits", "Commits that wait until another server has them.", Double(replication.waitingCommits))
    text.gauge(
      "attache_queue_replication_wait_seconds", "How long the first of these commits has waited; 0 when none waits.",
      replication.longestWait / .seconds(1))
  }
}
