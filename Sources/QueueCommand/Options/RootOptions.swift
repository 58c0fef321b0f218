import ArgumentParser
import Attache

/// Which certificates of servers count.
struct RootOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("A file of root certificates (PEM) instead of the system's.", valueName: "file"),
    transform: { path in
      try RootCertificates.check(path)
      return path
    })
  var cacert: String?
}
