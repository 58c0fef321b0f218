internal import Attache

/// The checks of the flags in a scenario file.
///
/// A scenario can come from an untrusted source. Its flags cannot name a file or reach beyond
/// loopback. In the scenario's own network, they can reach any address.
enum ScenarioFlags {
  /// The largest number in a flag.
  private static let maximum = 1_000_000_000

  /// Networks that are always open, and one that stays blocked whatever the flags are.
  private static let harmless = ["127.0.0.0/8", "::1/128", "169.254.169.0/24"].compactMap { try? CIDR($0) }

  /// Checks the flags. It checks the names first, because parsing some flags reads files.
  ///
  /// - Parameters:
  ///   - flags: with a valid example for each placeholder.
  ///   - network: the network in which the scenario is played.
  static func check(_ flags: [String], network: ScenarioNetwork) throws(EngineFlagMistake) {
    for word in flags where word.isFlag { try checkName(word.prefix { $0 != "=" }) }
    let engine: EngineConfiguration
    do throws(EngineFlagMistake) {
      engine = try EngineFlagSettings.apply(flags, to: EngineConfiguration(store: .init(directory: "")), credentials: "")
    } catch {
      throw EngineFlagMistake("attache rejects its flags: \(error)")
    }
    var numbers = [("--max-pixels", engine.fetching.limits.pixels), ("--window", engine.filter.windowBytes)]
    for case .convert(let conversion) in engine.fetching.steps {
      numbers += [("--source-limits", conversion.sourceBytes), ("--max-source-pixels", conversion.sourcePixels)]
    }
    for (name, number) in numbers where number > maximum {
      throw EngineFlagMistake("\(name) \(number): in a scenario it is at most \(maximum)")
    }
    guard network == .loopback else { return }
    try checkReach(engine.fetching.policy)
    if let bucket = engine.upload, !bucket.isOnLoopback {
      throw EngineFlagMistake("--upload leads out of loopback; write --upload-endpoint {{origin}}, or `network: isolated`")
    }
  }

  private static func checkName(_ name: Substring) throws(EngineFlagMistake) {
    let flag = EngineFlag.named(name)
    guard flag?.isAllowedInScenario != true else { return }
    if flag?.traits.contains(.own) == true {
      throw EngineFlagMistake("\(name) is not allowed in flags: the rehearsal sets it, or there is a field for it")
    }
    let allowed = EngineFlag.all.filter(\.isAllowedInScenario).map(\.name).sorted().joined(separator: ", ")
    throw EngineFlagMistake("a scenario may not have \(name); it may have \(allowed)")
  }

  private static func checkReach(_ policy: URLPolicy) throws(EngineFlagMistake) {
    if let net = policy.allowedNets.first(where: { net in !harmless.contains { $0.contains(net) } }) {
      throw EngineFlagMistake(
        "--allow-net \(net) leads out of loopback; choose a network in \(harmless.map(\.description).joined(separator: ", ")), or write `network: isolated`"
      )
    }
    guard policy.allowedPorts.isEmpty else {
      throw EngineFlagMistake("--allow-port leads out of loopback, on which every port is allowed; remove it, or write `network: isolated`")
    }
    if let proxy = policy.proxy, proxy.address?.isLoopback != true {
      throw EngineFlagMistake(
        "--proxy \(proxy.text) leads out of loopback; write {{origin}} or {{NAME}} of `origins`, or write `network: isolated`")
    }
  }
}

extension CIDR {
  /// Returns whether the other network is inside this one.
  fileprivate func contains(_ other: CIDR) -> Bool {
    other.prefixLength >= prefixLength && contains(other.address)
  }
}
