import ArgumentParser
import Attache
import AttacheArguments

/// `attache reasons`: the closed list of reason codes, each with what the user can do and with the
/// scenario that shows it.
struct ReasonsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reasons", abstract: "Print the reason codes, what to do about each, and the scenario that shows it.",
    discussion: "The scenarios are files of Fixtures/scenarios, for attache rehearse.")

  func run() throws {
    let width = Reason.allCases.map(\.rawValue.count).max() ?? 0
    let rows = Reason.allCases.map { reason in
      reason.rawValue + String(repeating: " ", count: width + 2 - reason.rawValue.count) + reason.advice + "  \(reason.scenario)\n"
    }
    try StandardOutput.write(rows.joined())
  }
}

extension ReasonScenario: CustomStringConvertible {
  /// The file's name, or why there is none.
  var description: String {
    switch self {
    case .file(let name): name
    case .none(let why): "(no scenario: \(why))"
    }
  }
}
