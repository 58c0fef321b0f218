/// What an origin sends for one request, read from the steps of a scenario: one reading of them for
/// every origin that plays scenarios.
///
/// The head goes as soon as the last of the steps that speak of it is due, or, without such steps,
/// with the first bytes of the body. Steps that do nothing but stall, reset or close have no head;
/// neither have bytes in the place of HTTP, whatever follows them.
package struct ResponseScript: Sendable, Hashable {
  /// How the client learns where the body ends.
  package enum Framing: Sendable, Hashable {
    case length(Int)
    case chunked
    /// By the end of the connection.
    case untilClose
    /// The fields that the steps name say it, or mislead: the bytes of the body go as they are.
    case asWritten
  }

  /// The status line and the fields, those of the framing included.
  package struct Head: Sendable, Hashable {
    package var status: Int
    package var fields: [HeaderField]
    package var framing: Framing
  }

  package enum Action: Sendable, Hashable {
    /// - Parameter isOpen: whether fields follow, until ``headEnd`` or for ever.
    case head(Head, isOpen: Bool)
    case field(HeaderField)
    case headEnd
    /// Bytes of the body, to be framed as the head says; more than it says, or fewer, perhaps.
    case body([UInt8])
    /// Bytes in the place of HTTP.
    case raw([UInt8])
    /// Nothing more, until the client is gone.
    case stall
    case reset
    /// A close in good order: the end of the body, or where it breaks off.
    case close
    /// The end of the connection without a farewell: over TLS without a close_notify, over HTTP/2
    /// by a DATA frame that is too long.
    case cut
    /// Over HTTP/2 a GOAWAY that says ENHANCE_YOUR_CALM, and the close.
    case goAway
    case flood(HeaderFlood)
    case fetcher(FetcherFault)
    /// The end of the response; the connection serves again.
    case end
  }

  /// When an action is due.
  package enum Moment: Sendable, Hashable {
    /// Counted from the arrival of the request; at once when that is past.
    case at(Duration)
    /// Counted from the action before.
    case after(Duration)
  }

  package struct Move: Sendable, Hashable {
    package var moment: Moment
    package var action: Action
  }

  /// A move, or a step that comes to one for each repetition.
  enum Item: Sendable, Hashable {
    case move(Move)
    case step(OriginStep)
  }

  private(set) var items: [Item] = []
  /// Whether what is sent stands in the place of HTTP.
  let isRaw: Bool

  /// - Parameter steps: of one response, their placeholders filled in. What follows a stall, a
  ///   reset or a close is never reached.
  package init(_ steps: [OriginStep]) {
    let steps = steps.reachable
    isRaw = steps.isRaw
    let head = steps.isHeadless ? nil : Head(steps)
    var isOpen = head != nil && steps.contains(where: \.isFieldDrip)
    if let head { items.append(.move(Move(moment: steps.headMoment, action: .head(head, isOpen: isOpen)))) }
    for step in steps where isRaw || !step.action.isOfHead || step.isFieldDrip {
      if isOpen, step.action.isOfBody {
        items.append(.move(Move(moment: step.moment, action: .headEnd)))
        isOpen = false
      }
      items.append(.step(step))
    }
    guard steps.last?.action.isLast != true else { return }
    if isOpen { items.append(.move(Move(moment: .after(.zero), action: .headEnd))) }
    items.append(.move(Move(moment: .after(.zero), action: head?.ending(of: steps) ?? .close)))
  }

  /// What is done, in order; without an end where something is repeated for ever.
  package var moves: ResponseMoves {
    ResponseMoves(self)
  }
}

// MARK: What the steps say together

extension [OriginStep] {
  /// The steps without those that come to nothing.
  fileprivate var reachable: [OriginStep] {
    let steps = filter { $0.repetition != .times(0) }
    return steps.firstIndex(where: \.action.isLast).map { Array(steps[...$0]) } ?? steps
  }

  fileprivate var isRaw: Bool {
    if case .raw? = first(where: { !$0.action.isLast })?.action { true } else { false }
  }

  fileprivate var isHeadless: Bool {
    isRaw || !isEmpty && allSatisfy(\.action.isLast)
  }

  /// When the head goes: the latest moment of the steps that speak of it before any other, else
  /// with the first other one.
  fileprivate var headMoment: ResponseScript.Moment {
    let leading = prefix { $0.action.isOfHead && !$0.isFieldDrip }
    if let latest = leading.compactMap(\.at).max() { return .at(latest) }
    return leading.isEmpty ? first { !$0.isFieldDrip }?.moment ?? .after(.zero) : .after(.zero)
  }

  fileprivate var isEndless: Bool {
    contains { $0.repetition == .forever && $0.action.isOfBody }
  }

  /// Whether the last step leaves open how long the body would have been.
  fileprivate var breaksOff: Bool {
    switch last?.action {
    case .stall, .reset, .fetcher: true
    default: false
    }
  }

  /// What of the body is sent, in bytes.
  fileprivate var sentCount: Int {
    ResponseMoves(bodyOf: self).reduce(0) { $0 + $1.action.bodyCount }
  }

  /// All of each file that is sent, even if in part, and all texts, in bytes.
  fileprivate var wholeCount: Int {
    var files: [String: (size: Int, sent: Int)] = [:]
    var whole = 0
    var moves = ResponseMoves(bodyOf: self)
    while let move = moves.next() {
      guard case .send(let medium, _)? = moves.origin?.action else {
        whole += move.action.bodyCount
        continue
      }
      files[medium.name, default: (medium.bytes.count, 0)].sent += move.action.bodyCount
    }
    return files.values.reduce(whole) { $0 + Swift.max($1.size, $1.sent) }
  }
}

extension ResponseScript.Head {
  fileprivate init(_ steps: [OriginStep]) {
    var (status, length, fields) = (Int?.none, OriginStep.Length?.none, [HeaderField]())
    for step in steps {
      switch step.action {
      case .status(let code): status = code
      case .length(let told): length = told
      case .redirect(let location): fields.append(HeaderField("Location", location))
      case .header(let name, let value) where !step.isFieldDrip: fields += Array(repeating: HeaderField(name, value), count: step.times)
      case .header, .send, .text, .hex, .raw, .stall, .reset, .close, .cut, .goAway, .flood, .fetcher: break
      }
    }
    self.status = status ?? (steps.contains(where: \.isRedirect) ? 302 : 200)
    self.fields = fields
    framing = .untilClose
    framing = chooseFraming(length, steps)
    self.fields += framingFields(told: length != nil)
  }

  /// Without a word about it, the length is the true one; fields that the steps name themselves
  /// stand alone.
  private func chooseFraming(_ length: OriginStep.Length?, _ steps: [OriginStep]) -> ResponseScript.Framing {
    switch length {
    case .bytes(let count)?: return .length(count)
    case .offBy(let error)?: return .length(Swift.max(0, steps.wholeCount + error))
    case .chunked?: return .chunked
    case .untold?: return .untilClose
    case nil: break
    }
    let lengths = fields.filter { $0.name.lowercased() == "content-length" }.map(\.value)
    let codings = fields.filter { $0.name.lowercased() == "transfer-encoding" }
    if codings.isEmpty, lengths.count == 1, let count = Int(lengths[0]), count >= 0 { return .length(count) }
    guard lengths.isEmpty, codings.isEmpty else { return .asWritten }
    let count = steps.wholeCount
    // A stall behind the head is one within a body: nobody can say how long it would have been.
    return steps.isEndless ? .chunked : count == 0 && steps.breaksOff ? .untilClose : .length(count)
  }

  private func framingFields(told: Bool) -> [HeaderField] {
    let isNamed = fields.contains { ["content-length", "transfer-encoding"].contains($0.name.lowercased()) }
    guard told || !isNamed else { return [] }
    switch framing {
    case .length(let count): return allowsBody || told ? [HeaderField("Content-Length", String(count))] : []
    case .chunked: return [HeaderField("Transfer-Encoding", "chunked")]
    case .untilClose: return [HeaderField("Connection", "close")]
    case .asWritten: return []
    }
  }

  /// RFC 9110, 6.4.1: 1xx, 204 and 304 have none.
  private var allowsBody: Bool {
    status >= 200 && status != 204 && status != 304
  }

  /// What follows the last step: a body that is not what its length says, or that has none, ends
  /// with the connection.
  fileprivate func ending(of steps: [OriginStep]) -> ResponseScript.Action {
    switch framing {
    case .length(let count): !steps.isEndless && steps.sentCount == count ? .end : .close
    case .chunked: .end
    case .untilClose, .asWritten: .close
    }
  }
}

// MARK: What one step is

extension OriginStep {
  fileprivate var moment: ResponseScript.Moment {
    at.map { .at($0) } ?? .after(.zero)
  }

  /// A field that is sent for ever, or again and again with a pause between: each by itself.
  fileprivate var isFieldDrip: Bool {
    if case .header = action { repetition == .forever || repetition != nil && every != nil } else { false }
  }

  fileprivate var times: Int {
    if case .times(let count)? = repetition { count } else { 1 }
  }

  fileprivate var isRedirect: Bool {
    if case .redirect = action { true } else { false }
  }
}

extension OriginStep.Action {
  fileprivate var isOfHead: Bool {
    switch self {
    case .status, .header, .redirect, .length: true
    case .send, .text, .hex, .raw, .stall, .reset, .close, .cut, .goAway, .flood, .fetcher: false
    }
  }

  fileprivate var isOfBody: Bool {
    switch self {
    case .send, .text, .hex, .raw: true
    case .status, .header, .redirect, .length, .stall, .reset, .close, .cut, .goAway, .flood, .fetcher: false
    }
  }

  fileprivate var isLast: Bool {
    switch self {
    case .stall, .reset, .close, .cut, .goAway, .flood, .fetcher: true
    case .status, .header, .redirect, .length, .send, .text, .hex, .raw: false
    }
  }
}

extension ResponseScript.Action {
  fileprivate var bodyCount: Int {
    if case .body(let bytes) = self { bytes.count } else { 0 }
  }
}
