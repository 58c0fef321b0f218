/// Why an extension cannot be built.
package enum ExtensionBuildError: Error, CustomStringConvertible {
  /// The sources do not compile.
  ///
  /// - Parameters:
  ///   - diagnostics: what the compiler wrote.
  ///   - advice: one sentence for each problem that attache knows.
  case compilation(diagnostics: String, advice: [String])
  /// The sources are not what an extension is built of.
  case sources(String)
  /// The tools or files that a build needs are missing.
  case unavailable(String)
  /// A file or folder cannot be written.
  case output(String)

  package var description: String {
    switch self {
    case .compilation(let diagnostics, let advice): ([diagnostics] + advice.map { "note: \($0)" }).joined(separator: "\n")
    case .sources(let message), .unavailable(let message), .output(let message): message
    }
  }
}
