internal import ArgumentParser
internal import Attache
internal import AttacheArguments

/// The flags of attache that a scenario can contain.
///
/// A scenario can come from an untrusted source. Its flags cannot name a file or reach beyond
/// loopback. In the scenario's own network, they can reach any address.
package enum ScenarioFlags {
  /// An error in the flags, with what is allowed.
  struct Mistake: Error, CustomStringConvertible {
    let description: String
  }

  private static let allowed = [
    "--allow-host", "--allow-http", "--allow-net", "--allow-port", "--apply-overrides", "--base-url", "--cache", "--deny-host", "--dialect",
    "--fetchers",
    "--jobs", "--limits", "--log-urls", "--max-attachments", "--max-payload", "--max-pixels", "--media-key", "--on-expiry", "--output-key",
    "--payload-path", "--per-host", "--proxy", "--retries", "--store-age", "--store-max", "--strict", "--strict-dialects", "--unordered",
    "--window",
  ]

  /// The flags that have a scenario field or that the rehearsal sets.
  private static let own = ["--deadline", "--grace", "--store", "--report", "--dns-server", "--cacert"]

  /// The largest number in a flag.
  private static let maximum = 1_000_000_000

  /// Networks that are always open, and one that stays blocked whatever the flags are.
  private static let harmless = ["127.0.0.0/8", "::1/128", "169.254.169.0/24"].compactMap { try? CIDR($0) }

  /// Returns whether a scenario can contain the flag.
  ///
  /// - Parameter flag: with or without its value after `=`.
  package static func allows(_ flag: String) -> Bool {
    allowed.contains { flag.utf8.elementsEqual($0.utf8) || flag.utf8.starts(with: "\($0)=".utf8) }
  }

  /// Checks the flags. It checks the names first, because parsing some flags reads files.
  ///
  /// - Parameters:
  ///   - flags: with a valid example for each placeholder.
  ///   - network: the network in which the scenario is played.
  static func check(_ flags: [String], network: ScenarioNetwork) throws(Mistake) {
    for flag in flags where flag.utf8.first == UInt8(ascii: "-") && !allows(flag) {
      let name = String(flag.prefix { $0 != "=" })
      guard !own.contains(name) else {
        throw Mistake(description: "\(name) is not allowed in flags: the rehearsal sets it, or there is a field for it")
      }
      throw Mistake(description: "a scenario may not have \(name); it may have \(allowed.joined(separator: ", "))")
    }
    let options: FilterOptions
    do { options = try FilterOptions.parse(flags) } catch {
      throw Mistake(description: "attache rejects its flags: \(FilterOptions.message(for: error))")
    }
    try checkNumbers(options)
    if network == .loopback { try checkReach(options) }
  }

  private static func checkNumbers(_ options: FilterOptions) throws(Mistake) {
    let numbers: [(String, Int)] = [
      ("--jobs", options.timing.jobs), ("--max-attachments", options.timing.maxAttachments), ("--per-host", options.fetching.perHost),
      ("--max-pixels", options.fetching.maxPixels), ("--window", Int(options.order.window.bytes)),
    ]
    guard let (name, number) = numbers.first(where: { $0.1 > maximum }) else { return }
    throw Mistake(description: "\(name) \(number): in a scenario it is at most \(maximum)")
  }

  private static func checkReach(_ options: FilterOptions) throws(Mistake) {
    if let net = options.fetching.allowNet.first(where: { net in !harmless.contains { $0.contains(net) } }) {
      throw Mistake(
        description:
          "--allow-net \(net) leads out of loopback; choose a network in \(harmless.map(\.description).joined(separator: ", ")), or write `network: isolated`"
      )
    }
    guard options.fetching.allowPort.isEmpty else {
      throw Mistake(
        description: "--allow-port leads out of loopback, on which every port is allowed; remove it, or write `network: isolated`")
    }
    if let proxy = options.fetching.proxy, proxy.address?.isLoopback != true {
      throw Mistake(
        description: "--proxy \(proxy.text) leads out of loopback; write {{origin}} or {{NAME}} of `origins`, or write `network: isolated`")
    }
  }
}

extension CIDR {
  /// Returns whether the other network is inside this one.
  fileprivate func contains(_ other: CIDR) -> Bool {
    other.prefixLength >= prefixLength && contains(other.address)
  }
}

extension IPAddress {
  /// Whether the address is in 127.0.0.0/8, or is `::1`.
  var isLoopback: Bool {
    switch self {
    case .v4(let bits): bits >> 24 == 127
    case .v6(let bits): bits == 1
    }
  }
}
