internal import Glibc

/// Why media could not be had.
public struct FetchFailure: Error, Hashable, Sendable {
  public var reason: Reason
  /// What was refused or went wrong, in words.
  public var message: String

  public init(reason: Reason, message: String = "") {
    self.reason = reason
    self.message = message.isEmpty ? reason.advice : message
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
  init(_ reason: Reason, localError: Int32) {
    let advice = [EMFILE, ENFILE].contains(localError) ? "raise the limit of descriptors (ulimit -n)" : "check this machine's network"
    self.init(reason: reason, message: "this machine made no connection: \(SystemError(call: "socket", number: localError)); \(advice)")
  }

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
