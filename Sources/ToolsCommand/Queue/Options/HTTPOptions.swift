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

  @Option(
    help: ArgumentHelp(
      "The place in a 2xx response of a value that only an accepted payload has; * means each element of an array.",
      valueName: "pointer"), transform: { try JSONPointer(path: $0) })
  var httpOk: JSONPointer?

  @Option(
    help: ArgumentHelp("The place in that response of the reason why something was refused.", valueName: "pointer"),
    transform: { try JSONPointer(path: $0) })
  var httpError: JSONPointer?

  @Option(help: ArgumentHelp("A reason that may pass, so that the payload is tried again; repeatable.", valueName: "reason"))
  var httpRetry: [String] = []

  func validate() throws {
    guard Validation.isOn else { return }
    let retries = ("--http-retry", isGiven: !httpRetry.isEmpty)
    if httpOk == nil { try Validation.checkCompanions(of: "--http-ok", ("--http-error", httpError != nil), retries) }
    if httpError == nil { try Validation.checkCompanions(of: "--http-error", retries) }
    let stars = [httpOk, httpError].map { $0?.parts.count { $0 == "*" } ?? 0 }
    guard stars[0] <= 1, stars[1] <= stars[0] else {
      throw ValidationError("--http-ok takes at most one part *, and --http-error one only if --http-ok has it.")
    }
    guard let http else {
      try Validation.checkCompanions(
        of: "--http URL", ("--http-header", !httpHeader.isEmpty), ("--http-bearer-file", httpBearerFile != nil),
        ("--http-ok", httpOk != nil))
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
    configuration.acceptance = httpOk.map { HTTPAcceptance(accepted: $0, error: httpError) }
    configuration.acceptance?.retried = httpRetry
    return try orExit(log, ExitStatus.unavailable) { try HTTPSender(configuration) }
  }
}
