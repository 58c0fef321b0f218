import ArgumentParser
import Attache

/// `attache reasons`: the closed list of reason codes, each with what the user can do.
struct ReasonsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "reasons", abstract: "Print the reason codes and what to do about each.")

  func run() throws {
    let width = Reason.allCases.map(\.rawValue.count).max() ?? 0
    let rows = Reason.allCases.map { reason in
      reason.rawValue + String(repeating: " ", count: width + 2 - reason.rawValue.count) + reason.advice + "\n"
    }
    try StandardOutput.write(rows.joined())
  }
}
