internal import Attache

/// The origins in a recording, and the names that a scenario gives them.
struct RecordedOrigins {
  private struct Key: Hashable {
    var isSecure: Bool
    var host: String
    var port: UInt16

    init(_ exchange: RecordedExchange) {
      (isSecure, host, port) = (exchange.isSecure, exchange.host, exchange.port)
    }

    /// The forms in which a payload can write the beginning of a URL of this origin. JSON allows an
    /// escaped slash.
    var beginnings: [String] {
      let scheme = isSecure ? "https" : "http"
      let isUsual = port == (isSecure ? 443 : 80)
      return ["//", "\\/\\/"].flatMap { slashes in
        ["\(scheme):\(slashes)\(host):\(port)"] + (isUsual ? ["\(scheme):\(slashes)\(host)"] : [])
      }
    }

    /// Returns the replacement for the beginning of a URL. An address becomes the loopback origin.
    /// A name stays, so that it is resolved.
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

  /// Returns a text in which the URLs of these origins point to those of the scenario.
  func replacing(_ text: String) -> String {
    var result = text
    for (index, key) in keys.enumerated() {
      for beginning in key.beginnings { result = result.replacing(beginning, with: key.replacement(named: name(index))) }
    }
    return result
  }

  /// Returns the script of each origin, by its name.
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

  /// Returns the answers in order: at most four, with a repeated last answer given once.
  private static func distinct(_ responses: [[OriginStep]]) -> [[OriginStep]] {
    var responses = Array(responses.prefix(4))
    while responses.count > 1, responses[responses.count - 1] == responses[responses.count - 2] { responses.removeLast() }
    return responses
  }

  /// The number of requests that reached each path.
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
  /// How the connection failed; nil when it did not.
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
