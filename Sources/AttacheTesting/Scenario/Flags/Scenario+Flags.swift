internal import Attache

extension Scenario {
  /// The files and addresses of a stage that attache is given.
  struct StagePlaces {
    var store: String
    var report: String
    /// nil when no origin uses TLS.
    var rootCertificates: String?
    var nameServer: String
    /// The key of the bucket that the scenario's origin plays.
    var credentials: String
  }

  /// Whether attachments are uploaded.
  var uploads: Bool { flags.contains { $0.split(separator: "=").first == "--upload" } }

  /// Returns the configuration with which attache plays the scenario in this process. The
  /// scenario's own flags come last, so that they take precedence.
  ///
  /// - Throws: ``StageError/flags(_:)``
  func configuration(_ places: StagePlaces) throws(StageError) -> EngineConfiguration {
    var engine = EngineConfiguration(store: .init(directory: places.store))
    (engine.filter.deadline, engine.grace) = (deadline, grace)
    engine.filter.report = places.report
    engine.fetching.policy.allowHTTP = true
    if network == .loopback { engine.fetching.policy.allowedNets = [CIDR(containing: .v4(0x7F00_0001), prefixLength: 32)] }
    engine.fetching.rootCertificates = places.rootCertificates
    if needsOneFetcher { engine.fetching.fetchers = 1 }
    engine.fetching.nameServers = [places.nameServer]
    do throws(EngineFlagMistake) { return try EngineFlagSettings.apply(flags, to: engine, credentials: places.credentials) } catch {
      throw .flags("\(error)")
    }
  }

  /// Returns the flags that give a command the same configuration.
  func commandFlags(_ places: StagePlaces) -> [String] {
    var words = ["--allow-http"]
    if network == .loopback { words += ["--allow-net", "127.0.0.1/32"] }
    words += ["--deadline", Self.text(deadline)]
    if let grace { words += ["--grace", Self.text(grace)] }
    words += ["--store", places.store, "--report", places.report]
    if let rootCertificates = places.rootCertificates { words += ["--cacert", rootCertificates] }
    if needsOneFetcher { words += ["--fetchers", "1"] }
    if uploads { words += ["--upload-credentials", places.credentials] }
    return words + ["--dns-server", places.nameServer] + flags
  }

  /// Each fetcher has its own connections.
  private var needsOneFetcher: Bool { expectation.connections != nil }

  /// Returns a time in the form that flags take, to the microsecond.
  private static func text(_ duration: Duration) -> String {
    let microseconds = duration.nanoseconds / 1000
    let fraction = String(microseconds % 1000 + 1000).dropFirst()
    return "\(microseconds / 1000).\(fraction)ms"
  }
}
