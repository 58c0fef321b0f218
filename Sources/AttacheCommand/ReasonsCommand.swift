import ArgumentParser
import Attache

/// `attache reasons`: the closed list of reason codes, each with what the user can do.
struct ReasonsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "reasons", abstract: "Print the reason codes and what to do about each.")

  func run() {
    let width = Reason.allCases.map(\.rawValue.count).max() ?? 0
    for reason in Reason.allCases {
      print(reason.rawValue + String(repeating: " ", count: width + 2 - reason.rawValue.count) + reason.advice)
    }
  }
}
