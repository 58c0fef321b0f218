internal import Attache
internal import Yams

extension Scenario {
  /// Returns the scenario as a file that ``init(yaml:file:)`` parses to the same scenario. Media
  /// are named, not included.
  ///
  /// - Throws: an error of the YAML library when it cannot write the text because memory is
  ///   exhausted.
  public func yaml() throws -> String {
    try Yams.serialize(node: Node(document), width: -1, allowUnicode: true)
  }

  private var document: [(Node, Node)] {
    var members: [(Node, Node)] = []
    func add(_ name: String, _ node: Node?) {
      if let node { members.append((Node(name), node)) }
    }
    add("about", about.isEmpty ? nil : .text(about))
    add("payloads", Node(runs.map(\.node)))
    add("last-line-feed", endsWithLineFeed ? nil : .plain("false"))
    add("network", network == .loopback ? nil : .plain(network.rawValue))
    add("etc", files.isEmpty ? nil : Node(files.sorted { $0.key < $1.key }.map { (Node($0), .quoted($1)) }))
    add("origin", origins["origin"]?.node)
    let others = origins.filter { $0.key != "origin" }.sorted { $0.key < $1.key }
    add("origins", others.isEmpty ? nil : Node(others.map { (Node($0), $1.node) }))
    add("dns", names.isEmpty ? nil : Node(names.sorted { $0.key < $1.key }.map { (.text($0), $1.node) }))
    add("disk", disk?.node)
    add("deadline", deadline == .seconds(2) ? nil : .plain(deadline.scenarioText))
    add("grace", grace.map { .plain($0.scenarioText) })
    add("flags", flags.isEmpty ? nil : Node(flags.map(Node.text), .implicit, .flow))
    add("extension", serviceExtension == .media ? nil : .plain(serviceExtension.rawValue))
    if let stop { add(stop.isCancellation ? "cancel" : "stop", .plain(stop.at.scenarioText)) }
    add("clock", isReal ? .plain("real") : nil)
    let expected = expectation.members
    add("expect", expected.isEmpty ? nil : Node(expected))
    return members
  }

  /// A line and the number of times it is repeated in a row.
  private struct Run {
    var line: String
    var times = 1

    var node: Node {
      times == 1
        ? .quoted(line) : Node([(Node("line"), .quoted(line)), (Node("times"), .plain("\(times)"))], .implicit, .flow)
    }
  }

  private var runs: [Run] {
    payloads.reduce(into: []) { runs, line in
      if runs.last?.line == line { runs[runs.count - 1].times += 1 } else { runs.append(Run(line: line)) }
    }
  }
}

extension Node {
  /// Returns a node that YAML always parses as text.
  static func text(_ text: String) -> Node {
    let isLetter: (UInt8) -> Bool = { 0x61...0x7A ~= $0 | 0x20 }
    let startsPlain = text.utf8.first.map { isLetter($0) || $0 == UInt8(ascii: "/") } == true
    let isPlain = startsPlain && text.utf8.allSatisfy { isLetter($0) || "0123456789 .-/_".utf8.contains($0) }
    return isPlain ? plain(text) : quoted(text)
  }

  static func quoted(_ text: String) -> Node {
    Node(text, Tag(.str), text.contains { $0.isNewline } ? .doubleQuoted : .singleQuoted)
  }

  static func plain(_ text: String) -> Node {
    Node(text, .implicit, .plain)
  }
}

extension Duration {
  /// The duration as written in a scenario: whole seconds, or milliseconds to the microsecond.
  var scenarioText: String {
    let microseconds = nanoseconds / 1_000
    if microseconds % 1_000_000 == 0 { return "\(microseconds / 1_000_000)s" }
    return microseconds % 1_000 == 0 ? "\(microseconds / 1_000)ms" : "\(Double(microseconds) / 1_000)ms"
  }
}
