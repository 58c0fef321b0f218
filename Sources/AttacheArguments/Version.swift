internal import Attache

/// The version of every attache executable: the user sees one command.
package let attacheVersion = "0.1.0"

/// The output of `--version`: the version on its own line, then the libraries that attache uses.
package var versionText: String {
  ([attacheVersion] + LibraryVersions.all.map { "\($0.name) \($0.version)" }).joined(separator: "\n")
}
