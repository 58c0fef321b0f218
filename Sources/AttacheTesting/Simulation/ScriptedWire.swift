internal import Attache

/// Converts the moves of a script into bytes of HTTP/1. Over HTTP/2, the same bytes represent
/// frames.
struct ScriptedWire {
  /// A move as the client sees it.
  enum Event {
    /// - Parameters:
    ///   - status: the status if a head begins with these bytes.
    ///   - bodyCount: the number of these bytes that belong to the body or replace HTTP.
    case bytes([UInt8], status: Int?, bodyCount: Int)
    case stall, reset, close, cut, flood, end
  }

  private var moves: ResponseMoves
  private var upcoming: ResponseScript.Move?
  private let isStream: Bool
  private let arrival: MonotonicInstant
  private var latest: MonotonicInstant
  private var framing = ResponseScript.Framing.asWritten

  init(_ script: ResponseScript, arrival: MonotonicInstant, isStream: Bool) {
    moves = script.moves
    upcoming = moves.next()
    self.isStream = isStream
    self.arrival = arrival
    latest = arrival
  }

  /// The time at which the next move is due; nil when there is none.
  var nextMoment: MonotonicInstant? {
    switch upcoming?.moment {
    case .at(let time)?: max(latest, arrival.advanced(by: time))
    case .after(let time)?: latest.advanced(by: time)
    case nil: nil
    }
  }

  /// Whether only a clean end is left.
  var endsNow: Bool {
    switch upcoming?.action {
    case .end?: true
    // The bytes that end a chunked body have already been read.
    case nil: true
    case .head, .field, .headEnd, .body, .raw, .stall, .reset, .close, .cut, .goAway, .flood, .fetcher: false
    }
  }

  /// Executes the next move.
  mutating func move(at now: MonotonicInstant) -> Event? {
    guard let action = upcoming?.action else { return nil }
    latest = now
    upcoming = moves.next()
    return event(for: action)
  }

  private mutating func event(for action: ResponseScript.Action) -> Event {
    switch action {
    case .head(let head, let isOpen):
      framing = head.framing
      return .bytes(bytes(of: head) + (isOpen ? [] : Self.lineEnd), status: head.status, bodyCount: 0)
    case .field(let field): return .bytes(Array("\(field.name): \(field.value)\r\n".utf8), status: nil, bodyCount: 0)
    case .headEnd: return .bytes(Self.lineEnd, status: nil, bodyCount: 0)
    case .body(let bytes): return .bytes(framed(bytes), status: nil, bodyCount: bytes.count)
    case .raw(let bytes): return .bytes(bytes, status: nil, bodyCount: bytes.count)
    // On the simulated machine, no separate process fetches, so such a scenario is not played
    // there.
    case .stall, .fetcher: return .stall
    case .reset: return .reset
    case .cut: return .cut
    case .goAway: return .close
    case .flood: return .flood
    case .close: return isStream && framing == .untilClose ? .end : .close
    case .end: return framing == .chunked && !isStream ? .bytes(Array("0\r\n\r\n".utf8), status: nil, bodyCount: 0) : .end
    }
  }

  private static let lineEnd = Array("\r\n".utf8)

  private func bytes(of head: ResponseScript.Head) -> [UInt8] {
    // HTTP/2 does not allow connection-specific fields (RFC 9113, 8.2.2).
    let fields = head.fields.filter { !isStream || !["connection", "transfer-encoding"].contains($0.name.lowercased()) }
    let lines = fields.map { "\($0.name): \($0.value)\r\n" }
    return Array("HTTP/\(isStream ? "2" : "1.1") \(head.status) \r\n\(lines.joined())".utf8)
  }

  private func framed(_ bytes: [UInt8]) -> [UInt8] {
    guard framing == .chunked, !isStream, !bytes.isEmpty else { return bytes }
    return Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Self.lineEnd
  }
}
