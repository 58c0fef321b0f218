internal import Attache

extension ScenarioField {
  /// What DNS says of a name: an answer, one with its delay, or one for each look-up.
  func nameScript() throws(ScenarioError) -> NameScript {
    guard isMapping else { return NameScript([try turn()]) }
    let isSequence = try members().contains { ["first", "then"].contains($0.name) }
    guard isSequence else { return NameScript([try turn()]) }
    return NameScript(try turns { field throws(ScenarioError) in try field.turn() })
  }

  private func turn() throws(ScenarioError) -> NameScript.Turn {
    guard isMapping else { return NameScript.Turn(try answer()) }
    let fields = try members(of: ["after", "answer"])
    guard let answer = fields["answer"] else { throw error("`answer:` is missing") }
    return NameScript.Turn(try answer.answer(), delay: try fields["after"]?.duration() ?? .zero)
  }

  private func answer() throws(ScenarioError) -> NameScript.Answer {
    if isList {
      var addresses: [IPAddress] = []
      for item in try list() { addresses.append(try item.address()) }
      return .addresses(addresses)
    }
    return switch try text() {
    case "none": .none
    case "fail": .failure
    case "stall": .stall
    default: .addresses([try address()])
    }
  }

  private func address() throws(ScenarioError) -> IPAddress {
    guard let address = IPAddress(try text()) else {
      throw error("“\(try text())” is no address; write 127.0.0.1, a list of addresses, none, fail or stall")
    }
    return address
  }
}
