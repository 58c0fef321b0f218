internal import Attache

/// The version of every attache executable: the user sees one command.
package let attacheVersion = "0.1.0"

/// The output of `--version`: the version on its own line, then the libraries that attache uses. With
/// `--verbose`, what this machine cannot enforce on a fetcher follows.
package var versionText: String {
  var lines = [attacheVersion] + LibraryVersions.all.map { "\($0.name) \($0.version)" }
  if ["--version", "--verbose"].allSatisfy(CommandLine.arguments.contains) {
    lines.append(FetcherNotice.ofThisMachine.map { "\($0)" } ?? "fetchers run with all limits that SECURITY.md describes")
  }
  return lines.joined(separator: "\n")
}
