internal import AttacheTesting

/// Something that is told what comes of the scenarios.
protocol RehearsalReport: Sendable {
  /// Before the first scenario.
  mutating func begin(_ plan: RehearsalPlan)
  /// As a scenario ends.
  mutating func add(_ result: ScenarioResult)
  /// When a signal has ended the rehearsal: ``end(_:elapsed:)`` follows, with the results so far.
  mutating func interrupt()
  /// After the last, with all results in their order, or those so far.
  ///
  /// - Throws: ``ReportFailure`` when the report cannot be written.
  mutating func end(_ results: [ScenarioResult], elapsed: Duration) throws(ReportFailure)
}

extension RehearsalReport {
  mutating func begin(_ plan: RehearsalPlan) {}
  mutating func add(_ result: ScenarioResult) {}
  mutating func interrupt() {}
}

/// What is to be rehearsed.
struct RehearsalPlan: Sendable {
  /// Results that will come.
  var count: Int
  /// How the scenarios are played, as reports name it: `real`, `virtual`, `both` or `command`.
  var clock: String
  /// The first seed.
  var seed: UInt64
  /// Of the longest name.
  var nameWidth: Int
  /// Whether the results depend on their seeds, so that a reader must know them.
  var isSeeded: Bool
  /// What a reader must know about how far the rehearsal goes, a sentence each.
  var notes: [String] = []
}

/// A report that could not be written.
struct ReportFailure: Error, CustomStringConvertible {
  var path: String
  var problem: String

  var description: String { "\(path): \(problem); the report is not written" }
}

extension Terminal {
  /// - Throws: ``ReportFailure`` when the stream did not take everything.
  func checkWritten() throws(ReportFailure) {
    if let failure { throw ReportFailure(path: "standard output", problem: failure) }
  }
}
