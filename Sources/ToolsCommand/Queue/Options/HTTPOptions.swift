import ArgumentParser
import Attache
import AttacheArguments
import AttacheQueue
import AttacheSenders
import Logging

/// The flags for the HTTP endpoint that results are delivered to.
struct HTTPOptions: ParsableArguments {
  @Option(help: ArgumentHelp("POST each payload to this URL instead of a command.", valueName: "url"))
  var http: String?

  @Option(help: ArgumentHelp("A header field of each request, as 'Name: value'; repeatable.", valueName: "field"))
  var httpHeader: [String] = []

  @Option(help: ArgumentHelp("A file with the token of an 'Authorization: Bearer' field; read again when it changes.", valueName: "file"))
  var httpBearerFile: String?

  func validate() throws {
    guard Validation.isOn else { return }
    guard let http else {
      guard httpHeader.isEmpty, httpBearerFile == nil else {
        throw ValidationError("--http-header and --http-bearer-file need --http URL.")
      }
      return
    }
    guard http.utf8.starts(with: "https://".utf8) || http.utf8.starts(with: "http://".utf8) else {
      throw ValidationError("--http takes a URL that begins with https:// or http://.")
    }
    for field in httpHeader {
      let name = field.utf8.prefix { $0 != UInt8(ascii: ":") }
      let isToken = !name.isEmpty && name.allSatisfy { $0 > 0x20 && $0 < 0x7F }
      guard isToken, name.count < field.utf8.count, field.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
        throw ValidationError("--http-header takes 'Name: value' in one line.")
      }
    }
  }

  /// Creates the sender that the flags request; returns nil without `--http`.
  ///
  /// - Throws: the exit status, after the error is logged.
  func sender(_ roots: RootOptions, _ log: Logger, answerTimeout: Duration, jobs: Int) throws -> (any Sender)? {
    guard let http else { return nil }
    var configuration = HTTPSender.Configuration(url: http)
    (configuration.fields, configuration.bearerFile, configuration.rootCertificates) = (httpHeader, httpBearerFile, roots.cacert)
    (configuration.answerTimeout, configuration.connections) = (answerTimeout, jobs)
    return try orExit(log, ExitStatus.unavailable) { try HTTPSender(configuration) }
  }
}
