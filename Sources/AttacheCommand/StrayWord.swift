import Attache
import Glibc

/// A command-line word that is not a flag: a file that the user wants to read, or a mistyped
/// subcommand.
struct StrayWord {
  private let word: String
  /// Whether the word is meant as a subcommand.
  let isCommand: Bool

  /// - Parameter isFirst: whether the word is where a subcommand would be.
  init(_ word: String, isFirst: Bool) {
    self.word = word
    isCommand = unsafe isFirst && access(word, F_OK) != 0
  }

  /// What the user may have meant and what to write instead.
  var advice: String {
    let name = PrintableText.of(word)
    guard isCommand else { return "the filter reads standard input: `attache filter < \(name)`, or `attache batch \(name)`" }
    if let nearest = Spelling.nearest(to: word, of: AttacheTool.commandNames) {
      return "no such command: \(name); did you mean \(nearest)?"
    }
    return "no such command or file: \(name); `attache --help` lists the commands"
  }
}
