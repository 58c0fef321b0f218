import Attache
import Glibc

/// A command-line word that is not a flag: a file that the user wants to read, or a mistyped
/// subcommand.
enum StrayWord {
  /// Returns what the user may have meant and what to write instead.
  ///
  /// - Parameter isFirst: whether the word is where a subcommand would be.
  static func advice(_ word: String, isFirst: Bool) -> String {
    let name = PrintableText.of(word)
    guard isFirst, unsafe access(word, F_OK) != 0 else {
      return "the filter reads standard input: `attache filter < \(name)`, or `attache batch \(name)`"
    }
    if let nearest = Spelling.nearest(to: word, of: AttacheTool.commandNames) {
      return "no such command: \(name); did you mean \(nearest)?"
    }
    return "no such command or file: \(name); `attache --help` lists the commands"
  }
}
