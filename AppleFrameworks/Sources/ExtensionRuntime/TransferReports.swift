import CExtensionRuntime
import Groundwork

/// Tells the host of each transfer of URLSession.
enum TransferReports {
  static func begin() {
    runtime_set_observer { transfer in
      let transfer = transfer.pointee
      var report: [String: Any] = ["transfer": transfer.number, "isEnd": transfer.is_end, "url": TransferReports.text(transfer.url)]
      if transfer.is_end {
        report["status"] = transfer.status
        report["type"] = TransferReports.text(transfer.type)
        report["bytes"] = transfer.bytes
        report["microseconds"] = transfer.microseconds
        report["code"] = transfer.code
        report["address"] = TransferReports.text(transfer.address)
      }
      HostLink.send(.transfer, report)
      let url = TransferReports.text(transfer.url)
      guard !transfer.is_end else { return 0 }
      guard HostRules.allows(url) else { return Int32(runtime_denied) }
      return SessionRules.refuses(URL(string: url)) ? Int32(runtime_insecure) : 0
    }
  }

  fileprivate static func text(_ pointer: UnsafePointer<CChar>?) -> String {
    pointer.map { String(cString: $0) } ?? ""
  }

  /// Applies what the host says about the network.
  ///
  /// - Parameter settings: `roots`, `connectTo` and `schemes` as in `runtime_network`, `publicOnly` and `loopbackOnly`,
  ///   the networks `nets` that are allowed beside public ones, ranges of `ports`, patterns of hosts, and what
  ///   ``SessionRules`` has.
  static func apply(_ settings: [String: Any]) {
    func isSet(_ name: String) -> Bool { (settings[name] as? NSNumber)?.boolValue ?? false }
    func copy(_ name: String) -> UnsafePointer<CChar>? {
      (settings[name] as? String).flatMap { strdup($0) }.map { UnsafePointer($0) }
    }
    for net in settings["nets"] as? [String] ?? [] { _ = runtime_allow_net(net) }
    for range in settings["ports"] as? [[NSNumber]] ?? [] where range.count == 2 {
      _ = runtime_allow_ports(range[0].uint16Value, range[1].uint16Value)
    }
    HostRules.set(allowed: settings["allowHosts"] as? [String] ?? [], denied: settings["denyHosts"] as? [String] ?? [])
    runtime_set_network(
      runtime_network(
        roots: copy("roots"), connect_to: copy("connectTo"), schemes: copy("schemes"),
        public_only: isSet("publicOnly"), loopback_only: isSet("loopbackOnly")))
    SessionRules.set(timeScale: (settings["timeScale"] as? NSNumber)?.doubleValue ?? 1, hasTransportSecurity: isSet("transportSecurity"))
  }
}

/// Which hosts may be reached, by patterns as attache's flags have them: `example.com`, `*.example.com`
/// for every host below it, and `.example.com` for both.
private enum HostRules {
  private static let lock = NSLock()
  nonisolated(unsafe) private static var (allowed, denied) = ([String](), [String]())

  static func set(allowed: [String], denied: [String]) {
    lock.withLock { (self.allowed, self.denied) = (allowed, denied) }
  }

  static func allows(_ url: String) -> Bool {
    let (allowed, denied) = lock.withLock { (self.allowed, self.denied) }
    guard !allowed.isEmpty || !denied.isEmpty else { return true }
    guard var host = URLComponents(string: url)?.host?.lowercased() else { return false }
    if host.hasSuffix(".") { host.removeLast() }
    if host.hasPrefix("[") { host = String(host.dropFirst().dropLast()) }
    func matches(_ pattern: String) -> Bool {
      if pattern.hasPrefix("*.") { return host.hasSuffix(pattern.dropFirst()) }
      if pattern.hasPrefix(".") { return host.hasSuffix(pattern) || host == pattern.dropFirst() }
      return host == pattern
    }
    return !denied.contains(where: matches) && (allowed.isEmpty || allowed.contains(where: matches))
  }
}
