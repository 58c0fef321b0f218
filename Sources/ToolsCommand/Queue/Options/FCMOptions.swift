import ArgumentParser
import Attache
import AttacheArguments
import AttacheSenders
import Logging

/// The flags for sending messages to Google.
struct FCMOptions: ParsableArguments {
  @Flag(help: "Send to Google's Firebase Cloud Messaging, with its HTTP v1 API.")
  var fcm = false

  @Option(help: ArgumentHelp("The key of a service account (JSON), from the Firebase console.", valueName: "file"))
  var fcmServiceAccount: String?

  @Option(help: ArgumentHelp("Send to another server with Google's protocol. The default port is 443.", valueName: "host[:port]"))
  var fcmHost: PushEndpoint?

  /// The server to send to.
  var endpoint: PushEndpoint { fcmHost ?? .google }

  func validate() throws {
    guard Validation.isOn else { return }
    guard fcm else {
      return try Validation.checkCompanions(
        of: "--fcm", ("--fcm-service-account", fcmServiceAccount != nil), ("--fcm-host", fcmHost != nil))
    }
    guard fcmServiceAccount != nil else {
      throw ValidationError(
        "--fcm needs --fcm-service-account: the key that the Firebase console makes in the project's settings, under service accounts.")
    }
  }

  /// Returns the configuration that the flags describe, after they were validated. Reads the key.
  ///
  /// - Parameters:
  ///   - push: the flags that it shares with APNs.
  ///   - roots: the trusted root certificates.
  /// - Throws: the exit status, after an unusable key is logged.
  func configuration(_ push: PushOptions, _ roots: RootOptions, answerTimeout: Duration, _ log: Logger) throws -> FCMConfiguration {
    let path = fcmServiceAccount ?? ""
    let account = try orExit(log, ExitStatus.data) {
      do throws(SenderSetupError) {
        return try ServiceAccount(contentsOf: path)
      } catch {
        throw SenderSetupError("--fcm-service-account \(PrintableText.of(path)): \(error)")
      }
    }
    var configuration = FCMConfiguration(account: account)
    configuration.endpoint = endpoint
    configuration.rootCertificates = roots.cacert
    (configuration.outputKey, configuration.invalidTokens) = (push.outputKey, push.invalidTokens)
    configuration.answerTimeout = answerTimeout
    return configuration
  }

  /// Creates the sender of `attache deliver`.
  ///
  /// - Returns: nil without `--fcm`.
  /// - Throws: the exit status, after the problem is logged.
  func sender(_ push: PushOptions, _ roots: RootOptions, answerTimeout: Duration, _ log: Logger) throws -> FCMSender? {
    guard fcm else { return nil }
    let configuration = try configuration(push, roots, answerTimeout: answerTimeout, log)
    return try orExit(log, ExitStatus.data) { try FCMSender(configuration) }
  }
}
