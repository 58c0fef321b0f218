package import ArgumentParser
internal import Synchronization

/// The order in which mistakes of a command line are reported.
///
/// ArgumentParser looks for missing options and calls `validate()` before it looks for options that the command does not know.
/// A misspelt option then seems to be missing, or its value to be a word that means something else. So after a mistake, the
/// command line is parsed again without `validate()`, and with the missing options: an unknown option is reported first.
package enum Validation {
  private static let isOff = Atomic(false)

  /// Whether `validate()` must look for mistakes.
  package static var isOn: Bool { !isOff.load(ordering: .relaxed) }

  /// Checks that no flag is given that needs another one, which is missing.
  ///
  /// - Parameters:
  ///   - missing: the flag that is missing.
  ///   - companions: the flags that need it, and whether they are given.
  /// - Throws: `ValidationError`.
  package static func checkCompanions(of missing: String, _ companions: (flag: String, isGiven: Bool)...) throws {
    if let flag = companions.first(where: \.isGiven)?.flag { throw ValidationError("\(flag) needs \(missing).") }
  }

  /// Returns the mistake to report.
  fileprivate static func mistake(after error: any Error, of tool: any ParsableCommand.Type) -> any Error {
    guard tool.exitCode(for: error) == .validationFailure else { return error }
    isOff.store(true, ordering: .relaxed)
    let words = Array(CommandLine.arguments.dropFirst())
    guard let first = self.error(of: tool, words) else { return error }
    guard let missing = missingArgument(tool.message(for: first)) else { return first }
    for value in values {
      var words = words
      words.insert(missing.hasPrefix("--") ? "\(missing)=\(value)" : value, at: min(1, words.count))
      if let next = self.error(of: tool, words), tool.message(for: next).hasPrefix("Unknown option ") { return next }
    }
    return first
  }

  /// Values of which each option that must be given takes one.
  private static let values = ["x", "1d", "sqlite:x"]

  /// Returns the mistake that ArgumentParser finds in a command line; nil if there is none.
  private static func error(of tool: any ParsableCommand.Type, _ words: [String]) -> (any Error)? {
    do {
      _ = try tool.parseAsRoot(words)
      return nil
    } catch {
      return tool.exitCode(for: error) == .validationFailure ? error : nil
    }
  }

  /// Returns the missing argument that a message of ArgumentParser names, such as `--queue`, or `<file>`.
  private static func missingArgument(_ message: String) -> Substring? {
    let start = "Missing expected argument '"
    return message.hasPrefix(start) ? message.dropFirst(start.count).prefix { $0 != "'" && $0 != " " } : nil
  }
}

extension ParsableCommand {
  /// Parses the command line of this process. Exits with a message for the user if it is wrong or asks for help.
  package static func parsed() -> any ParsableCommand {
    do {
      return try parseAsRoot()
    } catch {
      exit(withError: Validation.mistake(after: error, of: self))
    }
  }

  /// Parses the command line of this process, and runs the command.
  package static func runParsed() {
    var command = parsed()
    do { try command.run() } catch { exit(withError: error) }
  }
}
