internal import Attache
internal import FoundationEssentials
internal import Glibc
internal import Yams

extension Scenario {
  /// The maximum size of a scenario file, in bytes.
  private static let maximumSize = 256_000_000
  /// The maximum number of texts, lists and mappings of a scenario. The nodes of an alias count
  /// each time it is used.
  fileprivate static let maximumNodes = 4_000_000

  /// The file extensions of scenario files.
  public static let fileEndings = ["yaml", "yml"]

  /// Returns the name of the scenario in a file: the file's name without its extension.
  package static func name(ofFile path: String) -> String {
    ScenarioFolder.name(of: path)
  }

  /// Reads a scenario file and the files that it names.
  ///
  /// - Parameter path: the file; its name without the extension is the scenario's name.
  /// - Throws: ``ScenarioError`` with the location of the first error.
  public init(contentsOfFile path: String) throws(ScenarioError) {
    let data: Data
    if let size = try? FileStatus(path: path).size, size > Self.maximumSize {
      throw ScenarioError(file: path, message: "the file has \(size) bytes; a scenario has at most \(Self.maximumSize)")
    }
    do {
      data = try Data(contentsOf: URL(filePath: path))
    } catch {
      throw ScenarioError(file: path, message: "the file cannot be read; check its name and its permissions")
    }
    guard let yaml = String(validating: data, as: UTF8.self) else {
      throw ScenarioError(file: path, message: "the file is not UTF-8; save it as UTF-8")
    }
    try self.init(yaml: yaml, file: path)
  }

  /// Parses a scenario from text.
  ///
  /// - Parameters:
  ///   - yaml: one YAML document that follows Fixtures/scenarios/scenario.schema.json.
  ///   - file: the path of its source. The files that the scenario names are searched for next to
  ///     it, and those in `media/` also in its parent folder.
  /// - Throws: ``ScenarioError`` with the location of the first error.
  public init(yaml: String, file: String) throws(ScenarioError) {
    let top = try ScenarioField.top(yaml, file: file)
    let fields = try top.members(of: Self.fields)
    let files = ScenarioFolder(of: file)
    guard let payloads = fields["payloads"] else { throw top.error("there are no payloads; write `payloads:` with a list of lines") }
    self.init(
      name: ScenarioFolder.name(of: file), file: file, about: try fields["about"]?.text() ?? "",
      payloads: try payloads.payloadLines(files))
    endsWithLineFeed = try fields["last-line-feed"]?.truth() ?? true
    guard !file.hasControls, fields["about"] == nil || !about.hasControls else {
      throw (fields["about"] ?? top).error("a file's name and `about` are one line of text without control characters")
    }
    try readWorld(fields, files)
    try readFilter(fields)
    if let field = fields["clock"] { isReal = try field.isRealClock() }
    if let field = fields["expect"] { expectation = try field.expectation(payloads: self.payloads.count, origins: Array(origins.keys)) }
    for (index, line) in self.payloads.enumerated() {
      try payloads.check(placeholdersOf: line, origins: origins, what: "payload \(index + 1)")
    }
  }

  private static let maximumOrigins = 1_000

  private static let fields = [
    "about", "payloads", "last-line-feed", "network", "etc", "origin", "origins", "dns", "disk", "deadline", "grace", "flags", "extension",
    "stop", "cancel",
    "clock", "expect",
  ]

  private mutating func readWorld(_ fields: [String: ScenarioField], _ files: ScenarioFolder) throws(ScenarioError) {
    try readNetwork(fields)
    if let field = fields["origin"] { origins["origin"] = try field.origin(files) }
    for (name, field) in try fields["origins"]?.members() ?? [] {
      guard origins.count < Self.maximumOrigins else { throw field.error("a scenario has at most \(Self.maximumOrigins) origins") }
      guard origins[name] == nil, !name.contains("."), !["n", "port"].contains(name) else {
        throw field.error("this name is taken; choose another")
      }
      origins[name] = try field.origin(files)
    }
    for (name, field) in try fields["dns"]?.members() ?? [] { names[name.lowercased()] = try field.nameScript() }
    if let field = fields["disk"] { disk = try field.disk() }
    for field in [fields["origin"], fields["origins"]].compactMap({ $0 }) {
      try field.checkRedirects(of: origins)
      if network == .loopback, origins.values.contains(where: { $0.listening != nil }) {
        throw field.error("`listen` needs an isolated network: write `network: isolated`")
      }
      if network != .loopback, faultsFetchers {
        throw field.error("the process of a connection is visible only on loopback: remove `network`, or the end of the fetcher")
      }
    }
  }

  private mutating func readNetwork(_ fields: [String: ScenarioField]) throws(ScenarioError) {
    if let field = fields["network"] { network = try field.choice() }
    guard let field = fields["etc"] else { return }
    guard network != .loopback else { throw field.error("`etc` needs an isolated network: write `network: isolated`") }
    for (name, text) in try field.members(of: ["hosts", "resolv.conf"]) { files[name] = try text.text() }
  }

  private mutating func readFilter(_ fields: [String: ScenarioField]) throws(ScenarioError) {
    if let field = fields["deadline"] { deadline = try field.duration() }
    if let field = fields["grace"] {
      grace = try field.duration()
      guard let grace, grace < deadline else { throw field.error("the grace must be shorter than the deadline") }
    }
    if let field = fields["flags"] { flags = try field.flags(origins: origins, network: network) }
    if let field = fields["extension"] { serviceExtension = try field.choice() }
    if let field = fields["stop"] { stop = StopScript(at: try field.duration(), isCancellation: false) }
    if let field = fields["cancel"] {
      guard stop == nil else { throw field.error("stop and cancel cannot be combined") }
      stop = StopScript(at: try field.duration(), isCancellation: true)
    }
  }
}

extension ScenarioField {
  /// Parses the root of a file.
  static func top(_ yaml: String, file: String) throws(ScenarioError) -> ScenarioField {
    do {
      guard let node = try Yams.compose(yaml: yaml), case .mapping = node else {
        throw ScenarioError(
          file: file, line: 1, column: 1, message: "a scenario has names with values, such as `payloads:` with a list of lines")
      }
      var left = Scenario.maximumNodes
      guard node.count(upTo: &left) else {
        throw ScenarioError(
          file: file, message: "the file has more than \(Scenario.maximumNodes) values, including its aliases (`*name`); write fewer")
      }
      return ScenarioField(node: node, path: "", file: file)
    } catch let error as ScenarioError {
      throw error
    } catch let error as YamlError {
      throw ScenarioError(error, file: file)
    } catch {
      throw ScenarioError(file: file, message: "\(error)")
    }
  }
}

extension Node {
  /// Subtracts the number of nodes from `left` and returns whether there were enough.
  fileprivate func count(upTo left: inout Int) -> Bool {
    left -= 1
    guard left >= 0 else { return false }
    switch self {
    case .scalar, .alias: return true
    case .sequence(let nodes): return nodes.allSatisfy { $0.count(upTo: &left) }
    case .mapping(let members): return members.allSatisfy { $0.key.count(upTo: &left) && $0.value.count(upTo: &left) }
    }
  }
}

extension ScenarioError {
  /// Converts an error of the YAML parser.
  fileprivate init(_ error: YamlError, file: String) {
    switch error {
    case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _), .composer(_, let problem, let mark, _):
      self.init(file: file, line: mark.line, column: mark.column, message: "this is not YAML: \(problem)")
    case .duplicatedKeysInMapping(let duplicates, let context):
      self.init(
        file: file, line: context.mark.line, column: context.mark.column, field: duplicates.sorted().joined(separator: ", "),
        message: "this name occurs twice; remove one")
    case .no, .memory, .reader, .writer, .emitter, .representer, .dataCouldNotBeDecoded:
      self.init(file: file, message: "this is not YAML: \(error)")
    }
  }
}

extension String {
  /// Whether the text contains control characters, which would affect a terminal or a report.
  fileprivate var hasControls: Bool {
    unicodeScalars.contains { $0.properties.generalCategory == .control || ["\u{2028}", "\u{2029}"].contains($0) }
  }
}
