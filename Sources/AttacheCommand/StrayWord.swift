import Attache
import Glibc

/// A word on the command line that is no flag: a file that the user wants to be read, or a
/// subcommand that is mistyped.
enum StrayWord {
  /// What the user may have meant, and what to write instead.
  ///
  /// - Parameter isFirst: whether it is where a subcommand would be.
  static func advice(_ word: String, isFirst: Bool) -> String {
    let name = PrintableText.of(word)
    guard isFirst, unsafe access(word, F_OK) != 0 else {
      return "filter reads standard input: `attache filter < \(name)`, or `attache batch \(name)`"
    }
    if let nearest = Spelling.nearest(to: word, of: AttacheTool.commandNames) {
      return "no such command: \(name); did you mean \(nearest)?"
    }
    return "no such command or file: \(name); `attache --help` lists the commands"
  }
}
