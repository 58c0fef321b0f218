/// One rehearsal of a filter: payloads, the world that they meet, and what must come of it. It lies
/// in a YAML file of its own, named after what happens.
///
/// Texts may hold placeholders, which are filled in when the scenario runs: `{{origin}}` is the
/// scheme, host and port of the origin, `{{port}}` its port alone; `{{NAME}}` and `{{NAME.port}}`
/// say the same of an entry of `origins`; `{{n}}` is the number of the payload, from 1; `{{pad N}}`
/// is N letters; `{{braces}}` is two opening braces.
public struct Scenario: Sendable, Hashable {
  /// The file's name without its ending.
  public var name: String
  /// The file that it was read from, as it was named.
  public var file: String
  /// One sentence about what happens.
  public var about: String
  /// The lines of input, without their line endings and with their placeholders.
  public var payloads: [String]
  /// Whether the last line of the input has an ending.
  public var endsWithLineFeed = true
  /// Where it is played.
  public var network = ScenarioNetwork.loopback
  /// What lies in the place of files of /etc, by their names; only in a network of its own.
  public var files: [String: String] = [:]
  /// The origins by name; the one that is written `origin:` is named `origin`.
  public var origins: [String: OriginScript] = [:]
  /// What DNS answers, by name in lower case; every other name does not exist.
  public var names: [String: NameScript] = [:]
  /// What is wrong with the store's disk.
  public var disk: DiskScript?
  /// The budget of each payload, which is `--deadline`.
  public var deadline = Duration.seconds(2)
  /// `--grace`; nil is attache's own.
  public var grace: Duration?
  /// Further flags of attache, with their placeholders.
  public var flags: [String] = []
  /// Which service extension serves; any but the one that attache ships runs in the process only.
  public var serviceExtension = ScriptedExtensionKind.media
  /// When the filter is told to stop, counted from its start.
  public var stop: StopScript?
  /// Whether it is played on the real clock alone, since the simulated network knows nothing of
  /// what happens in it.
  public var isReal = false
  /// What must come of it.
  public var expectation = ScenarioExpectation()

  public init(name: String, file: String, about: String = "", payloads: [String]) {
    self.name = name
    self.file = file
    self.about = about
    self.payloads = payloads
  }
}

extension Scenario {
  /// Whether something happens to the processes that fetch.
  var faultsFetchers: Bool {
    origins.values.contains { origin in
      origin.paths.values.contains { path in
        path.responses.contains { steps in steps.contains { if case .fetcher = $0.action { true } else { false } } }
      }
    }
  }
}

/// The network that a scenario is played in.
public enum ScenarioNetwork: String, Sendable, CaseIterable {
  /// This machine's, of which only loopback is used.
  case loopback
  /// One of its own in which every address is this machine's; it is played on the real clock alone.
  case isolated
  /// The same, where no IPv6 address can be reached.
  case isolatedIPv4 = "isolated-ipv4"
}

/// What is wrong with the disk that the store lies on.
public enum DiskScript: Sendable, Hashable {
  /// There is no room after so many bytes, rounded up to pages of 4,096.
  case full(afterBytes: Int)
  /// It turns read-only when the first request reaches an origin.
  case readOnly
}

/// When and how a filter is told to stop.
public struct StopScript: Sendable, Hashable {
  /// Counted from the moment when the payloads are written.
  public var at: Duration
  /// false: stop reading, as after one SIGTERM; true: decide everything at once, as after two.
  public var isCancellation: Bool

  public init(at: Duration, isCancellation: Bool) {
    self.at = at
    self.isCancellation = isCancellation
  }
}

/// The service extensions that a scenario can choose: attache's own, and some that misbehave.
public enum ScriptedExtensionKind: String, Sendable, CaseIterable {
  /// The one that attache ships: it fetches the media.
  case media
  /// Never returns from any of its calls.
  case blocks
  /// Returns, and never answers.
  case silent
  /// Throws.
  case `throws`
  /// Answers with content that has no alert text.
  case emptiesAlert = "empties-alert"
  /// Answers only after its deadline.
  case late
  /// Answers twice: first with the original, then with content that has no alert text.
  case twice
}
