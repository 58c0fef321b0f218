import Foundation

/// What the host's rehearsal changes about URLSession.
package enum SessionRules {
  private static let lock = NSLock()
  nonisolated(unsafe) private static var (scale, hasTransportSecurity) = (1.0, false)

  /// - Parameters:
  ///   - timeScale: the factor for time-outs: a rehearsal gives a notification less time than a phone.
  ///   - hasTransportSecurity: whether plain http is refused as App Transport Security refuses it.
  package static func set(timeScale: Double, hasTransportSecurity: Bool) {
    lock.withLock { (scale, self.hasTransportSecurity) = (timeScale, hasTransportSecurity) }
  }

  static var timeScale: Double { lock.withLock { scale } }

  /// Whether App Transport Security refuses a URL.
  package static func refuses(_ url: URL?) -> Bool {
    guard lock.withLock({ hasTransportSecurity }), let url, url.scheme?.lowercased() == "http", let host = url.host else { return false }
    return !TransportSecurity(Bundle.main.object(forInfoDictionaryKey: "NSAppTransportSecurity") as? [String: Any] ?? [:]).allows(host)
  }
}

/// The exceptions in a bundle's `Info.plist`
/// (https://developer.apple.com/documentation/bundleresources/information-property-list/nsapptransportsecurity).
struct TransportSecurity {
  private let settings: [String: Any]

  init(_ settings: [String: Any]) {
    self.settings = settings
  }

  /// Whether plain http is allowed with a host.
  func allows(_ host: String) -> Bool {
    let host = host.lowercased()
    // Since iOS 10, addresses, names without a dot and names of the local network need no exception.
    let isAddress = host.contains(":") || host.allSatisfy { $0.isNumber || $0 == "." }
    if isAddress || host.hasSuffix(".local") || !host.contains(".") { return true }
    if let exception = exception(for: host) {
      return Self.isSet("NSExceptionAllowsInsecureHTTPLoads", exception)
        || Self.isSet("NSTemporaryExceptionAllowsInsecureHTTPLoads", exception)
    }
    // One of these keys makes iOS ignore the general exception.
    let narrower = ["NSAllowsArbitraryLoadsForMedia", "NSAllowsArbitraryLoadsInWebContent", "NSAllowsLocalNetworking"]
    return Self.isSet("NSAllowsArbitraryLoads", settings) && !narrower.contains { settings[$0] != nil }
  }

  private func exception(for host: String) -> [String: Any]? {
    let domains = (settings["NSExceptionDomains"] as? [String: Any] ?? [:]).compactMapValues { $0 as? [String: Any] }
    let matching = domains.filter { domain, exception in
      let domain = domain.lowercased()
      return host == domain || (host.hasSuffix("." + domain) && Self.isSet("NSIncludesSubdomains", exception))
    }
    // The domain with the most labels is the most specific one.
    return matching.max { $0.key.count < $1.key.count }?.value
  }

  private static func isSet(_ name: String, _ settings: [String: Any]) -> Bool {
    (settings[name] as? NSNumber)?.boolValue ?? false
  }
}
