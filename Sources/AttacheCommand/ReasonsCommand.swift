import ArgumentParser
import Attache
import AttacheArguments

/// `attache reasons`: prints the closed list of reason codes, each with advice for the user and
/// with the scenario that shows it.
struct ReasonsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reasons", abstract: "List the reason codes, with advice and a scenario for each.",
    discussion: "The scenarios are files of Fixtures/scenarios, for attache rehearse.")

  @Flag(help: "List the findings about service extensions and app delegates instead, each with its level, meaning and advice.")
  var findings = false

  func run() throws {
    if findings { Companion.become(["findings"]) }
    let width = Reason.allCases.map(\.rawValue.count).max() ?? 0
    let rows = Reason.allCases.map { reason in
      reason.rawValue + String(repeating: " ", count: width + 2 - reason.rawValue.count) + reason.advice + "  \(reason.scenario)\n"
    }
    try StandardOutput.write(rows.joined())
  }
}

extension ReasonScenario: CustomStringConvertible {
  /// The file's name, or why there is no scenario.
  var description: String {
    switch self {
    case .file(let name): name
    case .none(let why): "(no scenario: \(why))"
    }
  }
}
