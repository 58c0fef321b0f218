internal import Attache
internal import Yams

extension OriginScript {
  /// The origin in the format of a scenario file.
  var node: Node {
    var members: [(Node, Node)] = []
    if let listening { members.append((Node("listen"), .text(listening.text))) }
    if let tls { members.append((Node("tls"), .plain(tls.rawValue))) }
    if !certificateNames.isEmpty { members.append((Node("names"), Node(certificateNames.map { .text($0) }, .implicit, .flow))) }
    if let connection { members.append((Node("connection"), .plain(connection.rawValue))) }
    if !offersHTTP2 { members.append((Node("http2"), .plain("false"))) }
    for (path, script) in paths.sorted(by: { $0.key < $1.key }) { members.append((.text(path), script.node)) }
    return Node(members)
  }
}

extension OriginScript.Listening {
  /// The text of ``OriginScript/listening`` in a scenario file.
  fileprivate var text: String {
    let host: String? =
      switch address {
      case .v6(let bits): port == nil ? "\(IPAddress.v6(bits))" : "[\(IPAddress.v6(bits))]"
      case let address: address.map { "\($0)" }
      }
    return [host, port.map(String.init)].compactMap { $0 }.joined(separator: ":")
  }
}

extension PathScript {
  var node: Node {
    guard responses.count != 1 else { return Node(responses[0].map(\.node)) }
    return .turns(responses.map { Node($0.map(\.node)) })
  }
}

extension NameScript {
  var node: Node {
    turns.count == 1 ? turns[0].node : .turns(turns.map(\.node))
  }
}

extension NameScript.Turn {
  fileprivate var node: Node {
    var members: [(Node, Node)] = []
    if delay != .zero { members.append((Node("after"), .plain(delay.scenarioText))) }
    if timeToLive != 60 { members.append((Node("ttl"), .plain("\(timeToLive)"))) }
    return members.isEmpty ? answer.node : Node(members + [(Node("answer"), answer.node)], .implicit, .flow)
  }
}

extension NameScript.Answer {
  fileprivate var node: Node {
    switch self {
    case .addresses(let addresses): Self.node(addresses)
    case .aliases(let names, let addresses):
      Node(
        [(Node("alias"), Node(names.map { .text($0) }, .implicit, .flow)), (Node("address"), Self.node(addresses))], .implicit, .flow)
    case .loop: .plain("loop")
    case .none: .plain("none")
    case .noData: .plain("nodata")
    case .truncated: .plain("truncated")
    case .failure: .plain("fail")
    case .stall: .plain("stall")
    }
  }
}

extension NameScript.Answer {
  private static func node(_ addresses: [IPAddress]) -> Node {
    addresses.count == 1 ? .text("\(addresses[0])") : Node(addresses.map { .text("\($0)") }, .implicit, .flow)
  }
}

extension DiskScript {
  var node: Node {
    switch self {
    case .full(let bytes): .plain("full after \(bytes)")
    case .readOnly: .plain("read-only")
    }
  }
}

extension Node {
  /// Returns a mapping with `first`, `second`, `third` and `then`.
  fileprivate static func turns(_ nodes: [Node]) -> Node {
    let names = ["first", "second", "third"].prefix(nodes.count - 1) + ["then"]
    return Node(zip(names, nodes).map { (Node($0), $1) })
  }
}

extension OriginStep {
  fileprivate var node: Node {
    var members: [(Node, Node)] = []
    if let at { members.append((Node("at"), .plain(at.scenarioText))) }
    switch repetition {
    case .times(let count)?: members.append((Node("repeat"), .plain("\(count)")))
    case .forever?: members.append((Node("repeat"), .plain("forever")))
    case nil: break
    }
    if let every { members.append((Node("every"), .plain(every.scenarioText))) }
    let (name, value) = action.member
    if members.isEmpty, name == "do" { return value }
    return Node(members + [(Node(name), value)], .implicit, members.isEmpty ? .any : .flow)
  }
}

extension OriginStep.Action {
  fileprivate var member: (String, Node) {
    switch self {
    case .status(let status): ("status", .plain("\(status)"))
    case .header(let name, let value): ("header", .quoted("\(name): \(value)"))
    case .redirect(let place): ("redirect", .quoted(place))
    case .length(let length): ("length", .plain(length.text))
    case .send(let medium, let count): ("send", .text(count.map { "\($0) bytes of \(medium.name)" } ?? medium.name))
    case .text(let text): ("text", .quoted(text))
    case .hex(let bytes): ("hex", .quoted(bytes.hexadecimalDigits))
    case .raw(let text): ("raw", .quoted(text))
    case .stall: ("do", .plain("stall"))
    case .reset: ("do", .plain("reset"))
    case .close: ("do", .plain("close"))
    case .cut: ("do", .plain("cut"))
    case .goAway: ("do", .plain("goaway"))
    case .flood(let flood): ("do", .plain(flood.rawValue))
    case .fetcher(let fault): ("do", .plain(fault.rawValue))
    }
  }
}

extension OriginStep.Length {
  fileprivate var text: String {
    switch self {
    case .bytes(let count): "\(count)"
    case .offBy(let count): count < 0 ? "\(count)" : "+\(count)"
    case .chunked: "chunked"
    case .absent: "none"
    }
  }
}
