internal import Attache
internal import Yams

/// A place in a scenario file: its node, and its path for messages.
struct ScenarioField {
  let node: Node
  /// Empty at the top level.
  let path: String
  let file: String

  /// Returns an error about this place.
  func error(_ message: String) -> ScenarioError {
    ScenarioError(file: file, line: node.mark?.line, column: node.mark?.column, field: path, message: message)
  }

  // MARK: Scalars

  /// Returns the text of a scalar as written, without YAML's interpretation of `null`, `no` and
  /// `1.10`.
  func text() throws(ScenarioError) -> String {
    guard case .scalar(let scalar) = node else { throw error("expected a text") }
    return scalar.string
  }

  /// Whether the value is empty or `null`.
  var isNull: Bool {
    guard case .scalar(let scalar) = node, scalar.style == .plain || scalar.style == .any else { return false }
    return ["", "null", "~", "Null", "NULL"].contains(scalar.string)
  }

  /// The largest number in a scenario.
  private static let largestNumber = 1_000_000_000
  /// The longest time: a day.
  private static let longestTime = Duration.seconds(86_400)
  /// The largest size: a terabyte.
  static let largestSize = 1_000_000_000_000

  func number() throws(ScenarioError) -> Int {
    guard let number = Int(try text()), 0...Self.largestNumber ~= number else {
      throw error("expected a whole number from 0 to \(Self.largestNumber), not “\(try text())”")
    }
    return number
  }

  func truth() throws(ScenarioError) -> Bool {
    switch try text() {
    case "true": true
    case "false": false
    case let other: throw error("expected true or false, not “\(other)”")
    }
  }

  /// Parses a time: `250ms`, `2s`, `1m`.
  func duration() throws(ScenarioError) -> Duration {
    let text = try text()
    if text == "0" { return .zero }
    guard let duration = WrittenDuration.duration(text) else {
      throw error("expected a time such as 250ms, 2s or 1m, not “\(text)”")
    }
    guard duration <= Self.longestTime else { throw error("\(text) is too long; a time in a scenario is at most 24h") }
    return duration
  }

  /// Parses a number of bytes: `512`, `10KB`, `64MB`.
  func bytes() throws(ScenarioError) -> Int {
    guard let bytes = Int(argument: try text()) else { throw error("expected a size such as 512, 10KB or 64MB, not “\(try text())”") }
    guard bytes <= Self.largestSize else { throw error("\(try text()) is too large; a size in a scenario is at most 1TB") }
    return bytes
  }

  /// Parses a raw value of an enumeration.
  func choice<Value: RawRepresentable<String> & CaseIterable>(_: Value.Type = Value.self) throws(ScenarioError) -> Value {
    let text = try text()
    guard let value = Value(rawValue: text) else {
      throw error("“\(text)” is not known here; write one of \(Value.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return value
  }

  // MARK: Collections

  func list() throws(ScenarioError) -> [ScenarioField] {
    guard case .sequence(let sequence) = node else { throw error("expected a list") }
    return sequence.enumerated().map { ScenarioField(node: $1, path: "\(path)[\($0)]", file: file) }
  }

  /// Returns the members of a mapping in the order in which they are written.
  func members() throws(ScenarioError) -> [(name: String, value: ScenarioField)] {
    guard case .mapping(let mapping) = node else { throw error("expected names with values, such as `name: value`") }
    var members: [(name: String, value: ScenarioField)] = []
    for (key, value) in mapping {
      let key = ScenarioField(node: key, path: path, file: file)
      let name = try key.text()
      var value = ScenarioField(node: value, path: path.isEmpty ? name : "\(path).\(name)", file: file)
      // An empty value has no useful position of its own.
      if value.isNull, let mark = key.node.mark { value = value.placed(at: mark) }
      members.append((name, value))
    }
    return members
  }

  /// Returns the place of a member's name.
  private func place(ofName name: String) -> ScenarioField? {
    guard case .mapping(let mapping) = node else { return nil }
    let key = mapping.keys.first { $0.scalar?.string == name }
    return key.map { ScenarioField(node: $0, path: path.isEmpty ? name : "\(path).\(name)", file: file) }
  }

  /// Returns the members by name and rejects unknown ones.
  func members(of known: [String]) throws(ScenarioError) -> [String: ScenarioField] {
    var byName: [String: ScenarioField] = [:]
    for (name, value) in try members() {
      guard known.contains(name) else {
        throw (place(ofName: name) ?? value).error("there is no such field here; write one of \(known.joined(separator: ", "))")
      }
      byName[name] = value
    }
    return byName
  }

  var isList: Bool {
    if case .sequence = node { true } else { false }
  }

  var isMapping: Bool {
    if case .mapping = node { true } else { false }
  }

  private func placed(at mark: Mark) -> ScenarioField {
    guard case .scalar(let scalar) = node else { return self }
    return ScenarioField(node: .scalar(Node.Scalar(scalar.string, scalar.tag, scalar.style, mark)), path: path, file: file)
  }
}

extension Int {
  /// Parses a number of bytes in the form that attache's flags take.
  init?(argument text: String) {
    guard let bytes = WrittenByteCount.bytes(text) else { return nil }
    self = Int(bytes)
  }
}
