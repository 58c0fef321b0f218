internal import Glibc

/// Why media could not be fetched.
public struct FetchFailure: Error, Hashable, Sendable {
  /// The reason code.
  public var reason: Reason
  /// What was refused or failed, in words.
  public var message: String
  /// Whether the cause is this machine and not the origin or the file: for example, its disk is
  /// full or it cannot start a process.
  public var isOfMachine = false
  /// How long to wait before asking again, when the circuit breaker refused the request; otherwise
  /// nil.
  public var retryAfter: Duration?

  /// Creates a failure. An empty message is replaced by the advice for the reason.
  public init(reason: Reason, message: String = "") {
    self.reason = reason
    self.message = message.isEmpty ? reason.advice : message
  }

  init(_ error: StoreError) {
    self.init(reason: error.reason, message: "\(error)")
    isOfMachine = error.isOfMachine
  }

  init(_ failure: DetectorFailure) {
    self.init(reason: .typeDetector, message: "\(failure)")
    if case .noProcess = failure { isOfMachine = true }
  }

  /// Creates the failure of an interrupted exchange.
  ///
  /// - Parameter host: the host of the URL.
  init(_ reason: Reason, of end: TransferEnd, host: String) {
    if let error = end.localError {
      self.init(reason, localError: error)
    } else if reason == .connectProxy {
      self.init(proxyStatus: end.proxyStatus)
    } else {
      self.init(reason: reason, message: end.certificateFault?.message(toGet: host) ?? "")
    }
  }

  init(_ refusal: Refusal) {
    self.init(reason: refusal.reason, message: refusal.message)
  }

  init(_ failure: DNSFailure, host: String) {
    switch failure {
    case .notFound: self.init(reason: .dnsNotFound, message: "\(host) does not exist or has no address; check the URL")
    case .failed: self.init(reason: .dnsFailed, message: "\(host): \(Reason.dnsFailed.advice)")
    case .refused(let number):
      self.init(reason: .dnsFailed, message: "this machine could not look up \(host): \(SystemError(call: "socket", number: number))")
      isOfMachine = Shortage(number) != nil
    case .timeout: self.init(reason: .dnsTimeout, message: "\(host): \(Reason.dnsTimeout.advice)")
    }
  }

  /// Creates the failure of a response that is not accepted.
  ///
  /// - Parameter tries: the number of attempts that had the same kind of result.
  init(_ reason: Reason, status: Int, tries: Int = 1) {
    let answer = "the origin answered \(status)" + (tries > 1 ? " to the last of \(tries) attempts" : "")
    let advice =
      switch status {
      case 401: "the file needs a login, which --header-file can give"
      case 403: "check the URL, or say who asks: some origins want a contact in --user-agent, others a login (--header-file)"
      case 429: "it limits how often it is asked; lower --per-host, or serve the media from a cache"
      case 400..<500: "check the URL"
      default: "check the origin"
      }
    self.init(reason: reason, message: reason == .httpStatus ? "\(answer); \(advice)" : "")
  }

  /// Creates the failure of a response whose body has a registered coding.
  init(coding: String) {
    self.init(
      reason: .httpEncoding,
      message: "the origin says that the body is compressed (Content-Encoding: \(coding)), which attache did not ask for; "
        + "turn off compression for media, or remove a wrong label from the stored file")
  }

  /// The message, with a slip in the URL that may be the cause.
  ///
  /// - Parameter url: the URL as written in the payload.
  func message(about url: UntrustedText) -> String {
    guard reason == .httpStatus, url.isEscapedForHTML else { return message }
    return "\(message); the URL contains '&amp;', which is HTML for '&': write '&'"
  }

  /// Creates the failure of this machine to make a connection.
  ///
  /// - Parameter localError: the errno of socket(2) or connect(2).
  private init(_ reason: Reason, localError: Int32) {
    guard reason != .internal else {
      self.init(reason: reason, message: "this machine could not fetch the file: \(SystemError.noMemory)")
      self.isOfMachine = true
      return
    }
    let advice = Shortage(localError) == nil ? "; check this machine's network" : ""
    self.init(
      reason: reason, message: "this machine could not make a connection: \(SystemError(call: "socket", number: localError))\(advice)")
    isOfMachine = Shortage(localError) != nil
  }

  /// Creates the failure of a proxy that cannot be reached, or that responds with its own status
  /// instead of the origin's.
  init(proxyStatus: Int?) {
    self.init(reason: .connectProxy, message: proxyStatus.map { "the proxy answered \($0); \(Reason.connectProxy.advice)" } ?? "")
  }
}

extension Refusal {
  /// The same refusal for the target of a redirect.
  var onRedirect: Refusal {
    Refusal(.policyRedirect, "redirected: \(message)")
  }
}
