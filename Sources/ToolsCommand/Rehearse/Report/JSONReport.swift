internal import Attache
internal import AttacheTesting
internal import Foundation

/// The report for programs: one JSON object, which `--baseline` also reads.
struct JSONReport: RehearsalReport {
  private let file: WholeFile
  private var plan: RehearsalPlan?

  init(_ file: WholeFile) {
    self.file = file
  }

  mutating func begin(_ plan: RehearsalPlan) {
    self.plan = plan
  }

  mutating func end(_ results: [ScenarioResult], elapsed: Duration) throws(ReportFailure) {
    var record = RehearsalRecord(results, clock: plan?.clock ?? "", seed: plan?.seed ?? 0, elapsed: elapsed)
    record.notes = plan?.notes ?? []
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    encoder.keyEncodingStrategy = .convertToSnakeCase
    let data: Data
    do {
      data = try encoder.encode(record)
    } catch {
      throw ReportFailure(path: file.path, problem: "\(error)")
    }
    try file.write(String(decoding: data, as: UTF8.self) + "\n")
  }
}
