internal import Attache
internal import NIOHTTP1

/// The playback of a script: its next move and the time at which it is due. The real origin and the
/// simulated one share it.
struct ResponsePlayback {
  private var moves: ResponseMoves
  /// The next move; nil when there is none.
  private(set) var upcoming: ResponseScript.Move?
  /// The time at which the previous move was done.
  var latest: MonotonicInstant
  private let framing: ResponseScript.Framing
  private let isStream: Bool
  private let arrival: MonotonicInstant

  /// - Parameter request: the script's times count from its arrival.
  init(_ script: ResponseScript, to request: RecordedRequest) {
    moves = script.moves
    upcoming = moves.next()
    framing = script.head?.framing ?? .asWritten
    isStream = request.httpVersion == "2"
    (arrival, latest) = (request.arrival, request.arrival)
  }

  /// Whether HTTP/1 sends the body in chunks.
  var isChunked: Bool { framing == .chunked && !isStream }

  /// The time at which the next move is due; nil when there is none.
  var due: MonotonicInstant? {
    switch upcoming?.moment {
    case .at(let time)?: max(latest, arrival.advanced(by: time))
    case .after(let time)?: latest.advanced(by: time)
    case nil: nil
    }
  }

  /// Returns the action of the next move and advances.
  mutating func next() -> ResponseScript.Action? {
    defer { upcoming = moves.next() }
    // An HTTP/2 stream needs no close: a flag marks the end of the body.
    if case .close? = upcoming?.action, isStream, framing == .untilClose { return .end }
    return upcoming?.action
  }

  /// Returns bytes of the body as HTTP/1 sends them.
  func framed(_ bytes: [UInt8]) -> [UInt8] {
    guard isChunked, !bytes.isEmpty else { return bytes }
    return Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Array("\r\n".utf8)
  }
}

extension ResponseScript {
  /// Interprets the steps of the response to a request. A request over HTTP/2 gets status 501 when
  /// the steps need HTTP/1.
  init(_ steps: [OriginStep], to request: RecordedRequest) {
    self.init(steps)
    guard request.httpVersion == "2", !worksOverHTTP2 else { return }
    self = FaultyBody.plainText("this script needs HTTP/1\n", .status(501)).response(to: request)
  }

  /// Whether the script can be played over HTTP/2. A script with raw HTTP/1 bytes cannot.
  private var worksOverHTTP2: Bool {
    guard case .head(let head, let isOpen)? = moves.first(where: { _ in true })?.action else { return !isRaw }
    return !isOpen && head.framing != .asWritten
  }
}

extension ResponseScript.Head {
  /// The status line and the fields as HTTP/1 writes them. The simulated machine reads the fields
  /// of HTTP/2 in this form, too.
  func lines(isStream: Bool) -> String {
    // HTTP/2 does not allow connection-specific fields (RFC 9113, 8.2.2).
    let fields = fields.filter { !isStream || !["connection", "transfer-encoding"].contains($0.name.lowercased()) }
    let reason = HTTPResponseStatus(statusCode: status).reasonPhrase
    return "HTTP/\(isStream ? "2" : "1.\(minorVersion)") \(status) \(reason)\r\n" + fields.map(\.line).joined()
  }
}

extension HeaderField {
  /// The field as HTTP/1 writes it.
  var line: String { "\(name): \(value)\r\n" }
}
