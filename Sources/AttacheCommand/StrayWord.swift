import Attache
import Glibc

/// A command-line word that is not a flag: a file that the user wants to read, or a mistyped
/// subcommand.
struct StrayWord {
  private let word: String
  /// Whether the word is meant as a subcommand.
  let isCommand: Bool
  /// The commands that the word may mean.
  private let commands: [String]

  /// - Parameter isFirst: whether the word is where a subcommand would be.
  init(_ word: String, isFirst: Bool) {
    self.word = word
    commands = AttacheTool.commandNames
    isCommand = unsafe isFirst && access(word, F_OK) != 0
  }

  /// Creates a word that is meant as one of these commands.
  init(_ word: String, of commands: [String]) {
    (self.word, self.commands, isCommand) = (word, commands, true)
  }

  /// What the user may have meant and what to write instead.
  var advice: String {
    let name = PrintableText.of(word)
    guard isCommand else { return "the filter reads standard input: `attache filter < \(name)`, or `attache batch \(name)`" }
    if let nearest = Spelling.nearest(to: word, of: commands) {
      return "no such command: \(name); did you mean \(nearest)?"
    }
    return "no such command or file: \(name); `attache --help` lists the commands"
  }
}
