internal import Attache

/// The origins that a recording met, and the names that a scenario gives them.
struct RecordedOrigins {
  private struct Key: Hashable {
    var isSecure: Bool
    var host: String
    var port: UInt16

    init(_ exchange: RecordedExchange) {
      (isSecure, host, port) = (exchange.isSecure, exchange.host, exchange.port)
    }

    /// The ways in which a payload may write the beginning of a URL there; JSON lets a slash be
    /// escaped.
    var beginnings: [String] {
      let scheme = isSecure ? "https" : "http"
      let isUsual = port == (isSecure ? 443 : 80)
      return ["//", "\\/\\/"].flatMap { slashes in
        ["\(scheme):\(slashes)\(host):\(port)"] + (isUsual ? ["\(scheme):\(slashes)\(host)"] : [])
      }
    }

    /// An address stays what it is on loopback; a name keeps its place, so that it is looked up.
    func replacement(named name: String) -> String {
      let isAddress = IPAddress(host) != nil || host.hasPrefix("[")
      return isAddress ? "{{\(name)}}" : "\(isSecure ? "https" : "http")://\(host):{{\(name).port}}"
    }
  }

  private var keys: [Key] = []
  private let exchanges: [RecordedExchange]

  init(_ exchanges: [RecordedExchange]) {
    self.exchanges = exchanges
    for key in exchanges.map(Key.init) where !keys.contains(key) { keys.append(key) }
  }

  private func name(_ index: Int) -> String {
    index == 0 ? "origin" : "origin\(index + 1)"
  }

  /// A text with the URLs of these origins pointing at those of the scenario.
  func replacing(_ text: String) -> String {
    var result = text
    for (index, key) in keys.enumerated() {
      for beginning in key.beginnings { result = result.replacing(beginning, with: key.replacement(named: name(index))) }
    }
    return result
  }

  /// What each origin does, by its name.
  func scripts(_ steps: (RecordedExchange) -> [OriginStep]) -> [String: OriginScript] {
    var scripts: [String: OriginScript] = [:]
    for (index, key) in keys.enumerated() { scripts[name(index)] = script(of: exchanges.filter { Key($0) == key }, steps) }
    return scripts
  }

  private func script(of exchanges: [RecordedExchange], _ steps: (RecordedExchange) -> [OriginStep]) -> OriginScript {
    var script = OriginScript()
    if exchanges.contains(where: \.isSecure) { script.tls = exchanges.contains { $0.end == .broken(.tlsCertificate) } ? .untrusted : .good }
    if exchanges.allSatisfy({ $0.end == .broken(.tlsHandshake) }) { script.tls = .stalled }
    if let connection = exchanges.compactMap(\.connection).first, exchanges.allSatisfy({ $0.head == nil }) {
      script.connection = connection
      return script
    }
    for (path, visits) in Dictionary(grouping: exchanges, by: \.path) {
      script.paths[path] = PathScript(responses: Self.distinct(visits.map(steps)))
    }
    return script
  }

  /// The answers in turn: four at most, and what repeats to the end is said once.
  private static func distinct(_ responses: [[OriginStep]]) -> [[OriginStep]] {
    var responses = Array(responses.prefix(4))
    while responses.count > 1, responses[responses.count - 1] == responses[responses.count - 2] { responses.removeLast() }
    return responses
  }

  /// How many requests reached each path.
  var requests: [String: Int] {
    var counts: [String: Int] = [:]
    for exchange in exchanges where exchange.isRequested {
      guard let index = keys.firstIndex(of: Key(exchange)) else { continue }
      counts[index == 0 ? exchange.path : name(index) + exchange.path, default: 0] += 1
    }
    return counts
  }
}

extension RecordedExchange {
  /// What became of its connection, if there was none worth the name.
  fileprivate var connection: OriginScript.Connection? {
    switch end {
    case .broken(.connectRefused): .refused
    case .broken(.connectFailed): .dropped
    case .broken, .complete, .abandoned: nil
    }
  }

  /// Whether a request was sent.
  fileprivate var isRequested: Bool {
    switch end {
    case .broken(let reason): ![.connectRefused, .connectFailed, .tlsCertificate, .tlsHandshake].contains(reason)
    case .complete, .abandoned: true
    }
  }
}
