internal import Attache

/// The version of every attache executable: the user sees one command.
package let attacheVersion = "0.1.0"

/// The output of `--version`: the version on its own line, then the libraries that attache uses. With
/// `--verbose`, what this machine cannot enforce on a fetcher follows. Without `--version`, the
/// libraries are not asked for their versions, to keep the start fast.
package var versionText: String {
  guard CommandLine.arguments.contains("--version") else { return attacheVersion }
  var lines = [attacheVersion] + LibraryVersions.all.map { "\($0.name) \($0.version)" }
  if CommandLine.arguments.contains("--verbose") {
    lines.append(FetcherNotice.ofThisMachine.map { "\($0)" } ?? "fetchers run with all limits that SECURITY.md describes")
  }
  return lines.joined(separator: "\n")
}
