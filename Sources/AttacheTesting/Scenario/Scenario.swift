/// A rehearsal of a filter: payloads, the environment they meet, and the expected result. Each is
/// stored in a YAML file named after what happens.
///
/// Texts can contain placeholders, which are filled in when the scenario runs:
/// - `{{origin}}` is the scheme, host and port of the origin, and `{{port}}` only its port.
/// - `{{NAME}}` and `{{NAME.port}}` are the same for an entry of `origins`.
/// - `{{n}}` is the number of the payload, from 1.
/// - `{{pad N}}` is N letters.
/// - `{{braces}}` is two opening braces.
public struct Scenario: Sendable, Hashable {
  /// The file's name without its extension.
  public var name: String
  /// The path of the file that it was read from, as given.
  public var file: String
  /// A sentence that describes what happens.
  public var about: String
  /// The lines of input, without line endings and with placeholders.
  public var payloads: [String]
  /// Whether the last line of the input ends with a line feed.
  public var endsWithLineFeed = true
  /// The network in which the scenario is played.
  public var network = ScenarioNetwork.loopback
  /// The contents that replace files of /etc, by file name. It requires the scenario's own network.
  public var files: [String: String] = [:]
  /// The origins by name. The one written as `origin:` has the name `origin`.
  public var origins: [String: OriginScript] = [:]
  /// The DNS answers, by name in lower case. All other names do not exist.
  public var names: [String: NameScript] = [:]
  /// The fault of the store's disk; nil for none.
  public var disk: DiskScript?
  /// The time budget of each payload (`--deadline`).
  public var deadline = Duration.seconds(2)
  /// The value of `--grace`; nil for attache's default.
  public var grace: Duration?
  /// Additional flags of attache, with placeholders.
  public var flags: [String] = []
  /// The service extension to use. All except the one that attache ships run only in the process.
  public var serviceExtension = ScriptedExtensionKind.media
  /// The time to stop the filter, counted from its start; nil for never.
  public var stop: StopScript?
  /// Whether the scenario is played only on the real clock, because the simulated network cannot
  /// represent what happens in it.
  public var isReal = false
  /// The expected result.
  public var expectation = ScenarioExpectation()

  /// Creates a scenario on loopback, without origins and expectations.
  public init(name: String, file: String, about: String = "", payloads: [String]) {
    self.name = name
    self.file = file
    self.about = about
    self.payloads = payloads
  }
}

extension Scenario {
  /// Whether a fault affects the processes that fetch.
  var faultsFetchers: Bool {
    origins.values.contains { origin in
      origin.paths.values.contains { path in
        path.responses.contains { steps in steps.contains { if case .fetcher = $0.action { true } else { false } } }
      }
    }
  }
}

/// The network in which a scenario is played.
public enum ScenarioNetwork: String, Sendable, CaseIterable {
  /// This machine's network, limited to loopback.
  case loopback
  /// Its own network, in which every address is local to this machine. It is played on the real
  /// clock only.
  case isolated
  /// Like `isolated`, but no IPv6 address is reachable.
  case isolatedIPv4 = "isolated-ipv4"
}

/// A fault of the store's disk.
public enum DiskScript: Sendable, Hashable {
  /// The disk is full after this many bytes, rounded up to pages of 4,096.
  case full(afterBytes: Int)
  /// The disk becomes read-only when the first request reaches an origin.
  case readOnly
}

/// When and how a filter is stopped.
public struct StopScript: Sendable, Hashable {
  /// The time, counted from the moment when the payloads are written.
  public var at: Duration
  /// How to stop. False: stop reading, as after one SIGTERM. True: decide everything immediately,
  /// as after two.
  public var isCancellation: Bool

  /// Creates a stop at a time.
  public init(at: Duration, isCancellation: Bool) {
    self.at = at
    self.isCancellation = isCancellation
  }
}

/// The service extensions that a scenario can select: attache's own, and some with faults.
public enum ScriptedExtensionKind: String, Sendable, CaseIterable {
  /// The extension that attache ships; it fetches the media.
  case media
  /// Never returns from any call.
  case blocks
  /// Returns but never answers.
  case silent
  /// Throws an error.
  case `throws`
  /// Answers with content without alert text.
  case emptiesAlert = "empties-alert"
  /// Answers only after its deadline.
  case late
  /// Answers twice: first with the original, then with content without alert text.
  case twice
}
