internal import Attache

extension ScenarioField {
  /// Parses the DNS answers for a name: an answer, an answer with its delay, or one answer per
  /// look-up.
  func nameScript() throws(ScenarioError) -> NameScript {
    guard isMapping else { return NameScript([try turn()]) }
    let isSequence = try members().contains { ["first", "then"].contains($0.name) }
    guard isSequence else { return NameScript([try turn()]) }
    return NameScript(try turns { field throws(ScenarioError) in try field.turn() })
  }

  private func turn() throws(ScenarioError) -> NameScript.Turn {
    guard isMapping, try members().contains(where: { Self.ofTurn.contains($0.name) }) else { return NameScript.Turn(try answer()) }
    let fields = try members(of: Self.ofTurn)
    guard let answer = fields["answer"] else { throw error("`answer:` is missing") }
    var turn = NameScript.Turn(try answer.answer(), delay: try fields["after"]?.duration() ?? .zero)
    if let field = fields["ttl"] { turn.timeToLive = UInt32(clamping: try field.number()) }
    return turn
  }

  private static let ofTurn = ["after", "ttl", "answer"]

  private func answer() throws(ScenarioError) -> NameScript.Answer {
    if isMapping { return try aliasOrMany() }
    guard !isList else { return .addresses(try addresses()) }
    return switch try text() {
    case "none": .none
    case "nodata": .noData
    case "fail": .failure
    case "stall": .stall
    case "loop": .loop
    case "truncated": .truncated
    default: .addresses([try address()])
    }
  }

  /// Parses `{alias: b.example, address: 127.0.0.1}`, or `{count: 200, from: 93.184.0.1, and:
  /// 10.0.0.1}`.
  private func aliasOrMany() throws(ScenarioError) -> NameScript.Answer {
    let fields = try members(of: ["alias", "address", "count", "from", "and"])
    if let alias = fields["alias"] {
      var names: [String] = []
      for item in alias.isList ? try alias.list() : [alias] { names.append(try item.text().lowercased()) }
      return .aliases(names, try fields["address"]?.addresses() ?? [])
    }
    guard let count = try fields["count"]?.count(upTo: 10_000), case .v4(let first)? = try fields["from"]?.address() else {
      throw error("write many addresses as {count: 200, from: 93.184.0.1}")
    }
    return .addresses((0..<UInt32(count)).map { .v4(first &+ $0) } + (try fields["and"]?.addresses() ?? []))
  }

  private func addresses() throws(ScenarioError) -> [IPAddress] {
    guard isList else { return [try address()] }
    var addresses: [IPAddress] = []
    for item in try list() { addresses.append(try item.address()) }
    return addresses
  }

  private func address() throws(ScenarioError) -> IPAddress {
    guard let address = IPAddress(try text()) else {
      throw error("“\(try text())” is not an address; write 127.0.0.1, a list of addresses, none, nodata, fail, stall, loop or truncated")
    }
    return address
  }
}
