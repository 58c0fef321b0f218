internal import Glibc

/// Why media could not be had.
public struct FetchFailure: Error, Hashable, Sendable {
  public var reason: Reason
  /// What was refused or went wrong, in words.
  public var message: String
  /// Whether this machine failed, and not the origin or the file: its disk is full, or it has no
  /// process to give.
  public var isOfMachine = false

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

  /// An exchange that broke off.
  init(_ reason: Reason, of end: TransferEnd) {
    if let error = end.localError {
      self.init(reason, localError: error)
    } else if reason == .connectProxy {
      self.init(proxyStatus: end.proxyStatus)
    } else {
      self.init(reason: reason)
    }
  }

  init(_ refusal: Refusal) {
    self.init(reason: refusal.reason, message: refusal.message)
  }

  init(_ failure: DNSFailure, host: String) {
    switch failure {
    case .notFound: self.init(reason: .dnsNotFound, message: "\(host) does not exist or has no address; check the URL")
    case .failed: self.init(reason: .dnsFailed, message: "\(host): \(Reason.dnsFailed.advice)")
    case .timeout: self.init(reason: .dnsTimeout, message: "\(host): \(Reason.dnsTimeout.advice)")
    }
  }

  /// The origin's response is not accepted.
  ///
  /// - Parameter tries: how many have come to the same kind of end.
  init(_ reason: Reason, status: Int, tries: Int = 1) {
    let answer = "the origin answered \(status)" + (tries > 1 ? " to the last of \(tries) tries" : "")
    let advice = (400..<500).contains(status) ? "check the URL" : "check the origin"
    self.init(reason: reason, message: reason == .httpStatus ? "\(answer); \(advice)" : "")
  }

  /// This machine itself made no connection.
  ///
  /// - Parameter localError: the errno of socket(2) or connect(2).
  private init(_ reason: Reason, localError: Int32) {
    let advice =
      [EMFILE, ENFILE].contains(localError) ? "raise the limit on open files (ulimit -n), or lower --jobs" : "check this machine's network"
    self.init(reason: reason, message: "this machine made no connection: \(SystemError(call: "socket", number: localError)); \(advice)")
    isOfMachine = Self.shortages.contains(localError)
  }

  /// The errors of socket(2) that say that descriptors or memory ran out, whatever the origin.
  private static let shortages: Set<Int32> = [EMFILE, ENFILE, ENOBUFS, ENOMEM]

  /// The proxy cannot be reached, or answers with a status of its own instead of the origin.
  init(proxyStatus: Int?) {
    self.init(reason: .connectProxy, message: proxyStatus.map { "the proxy answers \($0); \(Reason.connectProxy.advice)" } ?? "")
  }

  /// The circuit breaker keeps an origin from being asked.
  init(breakerFor origin: String) {
    self.init(reason: .policyBreaker, message: "\(origin): \(Reason.policyBreaker.advice)")
  }
}

extension Refusal {
  /// The same refusal of a place that a redirect leads to.
  var onRedirect: Refusal {
    Refusal(.policyRedirect, "redirected: \(message)")
  }
}
