internal import Attache

extension Scenario {
  /// Returns all flags that attache needs to play the scenario. The scenario's own flags come last,
  /// so that they take precedence.
  package func filterFlags(store: String, report: String, rootCertificates: String?, nameServer: String) -> [String] {
    var words = ["--allow-http"]
    if network == .loopback { words += ["--allow-net", "127.0.0.1/32"] }
    words += ["--deadline", Self.text(deadline)]
    if let grace { words += ["--grace", Self.text(grace)] }
    words += ["--store", store, "--report", report]
    if let rootCertificates { words += ["--cacert", rootCertificates] }
    // Each fetcher has its own connections and circuit breakers.
    let breaks = expectation.payloads.contains { $0.reason == .policyBreaker || $0.media?.contains(.policyBreaker) == true }
    if expectation.connections != nil || breaks { words += ["--fetchers", "1"] }
    return words + ["--dns-server", nameServer] + flags
  }

  /// Returns a time in the form that flags take, to the microsecond.
  private static func text(_ duration: Duration) -> String {
    let microseconds = duration.nanoseconds / 1000
    let fraction = String(microseconds % 1000 + 1000).dropFirst()
    return "\(microseconds / 1000).\(fraction)ms"
  }
}
