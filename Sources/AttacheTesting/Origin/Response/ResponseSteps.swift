internal import Attache
internal import NIOCore

/// The steps of a response in order. They come from a list or from a script, which can be endless.
struct ResponseSteps: Sequence, IteratorProtocol {
  private var ahead: ArraySlice<ResponseStep>
  private var moves: ResponseMoves?
  private let arrival: MonotonicInstant
  /// Whether the wire is an HTTP/2 stream. A stream needs no length; a flag marks the end of a
  /// body.
  private let isStream: Bool
  private let hasBody: Bool
  private var framing = ResponseScript.Framing.asWritten

  init(_ steps: [ResponseStep]) {
    ahead = steps[...]
    (arrival, isStream, hasBody) = (.now, false, true)
  }

  /// - Parameter request: the script's times count from its arrival.
  init(_ script: ResponseScript, to request: RecordedRequest) {
    ahead = []
    moves = script.moves
    (arrival, isStream, hasBody) = (request.arrival, request.httpVersion == "2", request.method != "HEAD")
  }

  mutating func next() -> ResponseStep? {
    refill()
    return ahead.popFirst()
  }

  /// The next step, without consuming it.
  var upcoming: ResponseStep? {
    mutating get {
      refill()
      return ahead.first
    }
  }

  private mutating func refill() {
    while ahead.isEmpty, let move = moves?.next() {
      ahead += pause(until: move.moment)
      ahead += steps(of: move.action)
    }
  }

  private func pause(until moment: ResponseScript.Moment) -> [ResponseStep] {
    switch moment {
    case .at(let time): [.pause(until: arrival.advanced(by: time))]
    case .after(.zero): []
    case .after(let time): [.wait(time)]
    }
  }

  private mutating func steps(of action: ResponseScript.Action) -> [ResponseStep] {
    switch action {
    case .head(let head, let isOpen):
      framing = head.framing
      let head = ResponseHead(status: head.status, fields: head.fields, isChunked: head.framing == .chunked)
      return [isOpen ? .openHead(head) : .head(head)]
    case .field(let field): return [.field(field)]
    case .headEnd: return [.headEnd(isChunked: framing == .chunked)]
    case .body(let bytes): return hasBody && !bytes.isEmpty ? [.body(.init(bytes: bytes))] : []
    case .raw(let bytes): return [.raw(.init(bytes: bytes))]
    case .stall: return [.stall]
    case .reset: return [.reset]
    case .close: return [isStream && framing == .untilClose ? .end(keepsAlive: true) : .close]
    case .cut: return [.cut]
    case .goAway: return [.goAway]
    case .flood(let flood): return [.flood(flood)]
    case .fetcher(let fault): return [.fetcher(fault), .stall]
    case .end: return [.end(keepsAlive: true)]
    }
  }
}

extension ResponseScript {
  /// Whether the script can be played over HTTP/2. A script with raw HTTP/1 bytes cannot.
  var worksOverHTTP2: Bool {
    guard case .head(let head, let isOpen)? = moves.first(where: { _ in true })?.action else { return !isRaw }
    return !isOpen && head.framing != .asWritten
  }
}
