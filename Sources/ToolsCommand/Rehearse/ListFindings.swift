internal import ArgumentParser
internal import Attache
internal import AttacheTesting

/// `attache reasons --findings`: prints the findings about service extensions and app delegates.
struct ListFindings: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "findings", abstract: "List the findings of rehearsals of extensions.", shouldDisplay: false)

  func run() throws {
    let kinds = ExtensionFinding.kinds
    let width = kinds.map(\.rawValue.count).max() ?? 0
    for kind in kinds {
      let words = [kind.level?.rawValue.padded(to: 7), kind.meaning, kind.advice].compactMap { $0 }
      Terminal.output.write("\(kind.rawValue.padded(to: width))  \(words.joined(separator: "  "))\n")
    }
    do throws(ReportFailure) { try Terminal.output.checkWritten() } catch {
      Terminal.error.write("attache reasons: \(error)\n")
      throw ExitCode(ExitStatus.inputOutput)
    }
  }
}
