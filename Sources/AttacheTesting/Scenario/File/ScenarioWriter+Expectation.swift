internal import Attache
internal import Yams

extension ScenarioExpectation {
  /// The expectation in the format of a scenario file.
  var members: [(Node, Node)] {
    var members: [(Node, Node)] = []
    if payloads.count == 1 {
      members = payloads[0].members
    } else if !payloads.isEmpty {
      members.append((Node("payloads"), Node(payloads.map { Node($0.members, .implicit, .flow) })))
    }
    let counts = requests.sorted { $0.key < $1.key }.map { (Node.text($0), Node.plain("\($1)")) }
    if !counts.isEmpty { members.append((Node("requests"), Node(counts, .implicit, .flow))) }
    if let fields { members.append((Node("fields"), Node(fields.map(Node.text), .implicit, .flow))) }
    for (name, number) in [("connections", connections), ("names", names), ("memory", memory), ("descriptors", descriptors)] {
      if let number { members.append((Node(name), .plain("\(number)"))) }
    }
    if lateness != .zero { members.append((Node("lateness"), .plain(lateness.scenarioText))) }
    if exitStatus != 0 { members.append((Node("exit"), .plain("\(exitStatus)"))) }
    return members
  }
}

extension ScenarioExpectation.OfPayload {
  fileprivate var members: [(Node, Node)] {
    var members: [(Node, Node)] = []
    if let outcome { members.append((Node("outcome"), .plain(outcome.rawValue))) }
    if let reason { members.append((Node("reason"), .plain(reason.rawValue))) }
    if let attachments { members.append((Node("attachments"), Node(attachments.map(\.node), .implicit, .flow))) }
    if let media { members.append((Node("media"), Node(media.map { .plain($0?.rawValue ?? "null") }, .implicit, .flow))) }
    return members
  }
}

extension ScenarioExpectation.OfAttachment {
  fileprivate var node: Node {
    let size = size.map { [(Node("size"), Node.plain("\($0)"))] } ?? []
    return Node([(Node("type"), .plain(type))] + size, .implicit, .flow)
  }
}
