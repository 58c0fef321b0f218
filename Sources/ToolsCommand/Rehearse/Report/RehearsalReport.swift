internal import AttacheTesting

/// A report, which receives the results of the scenarios.
protocol RehearsalReport: Sendable {
  /// Called before the first scenario.
  mutating func begin(_ plan: RehearsalPlan)
  /// Called when a scenario ends.
  mutating func add(_ result: ScenarioResult)
  /// Called when a signal has ended the rehearsal. ``end(_:elapsed:)`` follows with the results so
  /// far.
  mutating func interrupt()
  /// Called at the end with all results, or with those so far, in their order.
  ///
  /// - Throws: ``ReportFailure`` when the report cannot be written.
  mutating func end(_ results: [ScenarioResult], elapsed: Duration) throws(ReportFailure)
}

extension RehearsalReport {
  mutating func begin(_ plan: RehearsalPlan) {}
  mutating func add(_ result: ScenarioResult) {}
  mutating func interrupt() {}
}

/// A description of the rehearsal that begins.
struct RehearsalPlan: Sendable {
  /// The number of results to expect.
  var count: Int
  /// How the scenarios are played, as reports name it: `real`, `virtual`, `both`, `command`, or
  /// `queue` with the queue's kind.
  var clock: String
  /// The first seed.
  var seed: UInt64
  /// The length of the longest name.
  var nameWidth: Int
  /// Whether the results depend on the seeds, so that a reader must know them.
  var isSeeded: Bool
  /// What a reader must know about the limits of the rehearsal, one sentence each.
  var notes: [String] = []
}

/// A report that could not be written.
struct ReportFailure: Error, CustomStringConvertible {
  var path: String
  var problem: String

  var description: String { "\(path): \(problem); the report is not written" }
}

extension Terminal {
  /// Checks that everything was written.
  ///
  /// - Throws: ``ReportFailure`` when a write to the stream failed.
  func checkWritten() throws(ReportFailure) {
    if let failure { throw ReportFailure(path: "standard output", problem: failure) }
  }
}
