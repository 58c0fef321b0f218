internal import Attache

/// The version of every executable of attache: the user sees one command.
package let attacheVersion = "0.1.0"

/// What `--version` prints: the version in a line of its own, then the libraries that attache runs
/// with.
package var versionText: String {
  ([attacheVersion] + LibraryVersions.all.map { "\($0.name) \($0.version)" }).joined(separator: "\n")
}
