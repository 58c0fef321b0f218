import ArgumentParser
import Attache

/// The flag for the trusted root certificates.
struct RootOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("A file of root certificates (PEM) instead of the system's.", valueName: "file"),
    transform: { path in
      try RootCertificates.check(path)
      return path
    })
  var cacert: String?
}
