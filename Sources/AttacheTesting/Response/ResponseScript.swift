/// The bytes and actions that an origin sends for one request, derived from the steps of a scenario
/// or from faults. All origins play it.
///
/// The head is sent when the last step that describes it is due; without such steps, with the first
/// bytes of the body. Steps that only stall, reset or close have no head. Bytes that replace HTTP
/// have no head either, whatever follows them.
package struct ResponseScript: Sendable, Hashable {
  /// How the client detects the end of the body.
  package enum Framing: Sendable, Hashable {
    case length(Int)
    case chunked
    /// The body ends when the connection closes.
    case untilClose
    /// The fields in the steps declare the end, correctly or not. The bytes of the body are sent
    /// unframed.
    case asWritten
  }

  /// The status line and the fields, including those of the framing.
  package struct Head: Sendable, Hashable {
    package var status: Int
    package var fields: [HeaderField]
    package var framing: Framing
    /// The minor version of HTTP/1.
    package var minorVersion = 1
    /// Whether the connection stays open after ``Action/end``.
    package var keepsAlive = true
  }

  package enum Action: Sendable, Hashable {
    /// - Parameter isOpen: whether more fields follow, until ``headEnd`` or without end.
    case head(Head, isOpen: Bool)
    case field(HeaderField)
    case headEnd
    /// Bytes of the body, framed as the head declares. There can be more or fewer than it declares.
    case body([UInt8])
    /// Bytes that replace HTTP.
    case raw([UInt8])
    /// Sends nothing more until the path is released or the client disconnects.
    case stall
    case reset
    /// A clean close: the end of the body, or an early end.
    case close
    /// An abrupt end of the connection: over TLS without a close_notify, over HTTP/2 by a DATA
    /// frame that is too long.
    case cut
    /// Over HTTP/2, a GOAWAY with ENHANCE_YOUR_CALM, then a close.
    case goAway
    case flood(HeaderFlood)
    case fetcher(FetcherFault)
    /// The end of the response.
    case end
  }

  /// The time at which an action is due.
  package enum Moment: Sendable, Hashable {
    /// Counted from the arrival of the request; immediate when that time is past.
    case at(Duration)
    /// Counted from the previous action.
    case after(Duration)
  }

  package struct Move: Sendable, Hashable {
    package var moment: Moment
    package var action: Action
  }

  /// A move, or a step that becomes one move per repetition.
  enum Item: Sendable, Hashable {
    case move(Move)
    case step(OriginStep)
  }

  /// nil when the response has no head.
  let head: Head?
  private(set) var items: [Item] = []
  /// Whether the bytes replace HTTP.
  let isRaw: Bool

  /// - Parameter steps: the steps of one response, with placeholders filled in. Steps after a
  ///   stall, a reset or a close never run.
  package init(_ steps: [OriginStep]) {
    let steps = steps.reachable
    isRaw = steps.isRaw
    head = steps.isHeadless ? nil : Head(steps)
    var isOpen = head != nil && steps.contains(where: \.isFieldDrip)
    if let head { items.append(.move(Move(moment: steps.headMoment, action: .head(head, isOpen: isOpen)))) }
    for step in steps where isRaw || step.action.part != .head || step.isFieldDrip {
      if isOpen, step.action.part == .body {
        items.append(.move(Move(moment: step.moment, action: .headEnd)))
        isOpen = false
      }
      items.append(.step(step))
    }
    guard steps.last?.action.part != .end else { return }
    if isOpen { items.append(.move(Move(moment: .after(.zero), action: .headEnd))) }
    items.append(.move(Move(moment: .after(.zero), action: head?.ending(of: steps) ?? .close)))
  }

  init(head: Head, items: [Item]) {
    self.head = head
    self.items = items
    isRaw = false
  }

  /// The moves in order; endless when a step repeats forever.
  package var moves: ResponseMoves {
    ResponseMoves(self)
  }
}

// MARK: What the steps say together

extension [OriginStep] {
  /// The steps without those that have no effect.
  fileprivate var reachable: [OriginStep] {
    let steps = filter { $0.repetition != .times(0) }
    return steps.firstIndex { $0.action.part == .end }.map { Array(steps[...$0]) } ?? steps
  }

  fileprivate var isRaw: Bool {
    if case .raw? = first(where: { $0.action.part != .end })?.action { true } else { false }
  }

  fileprivate var isHeadless: Bool {
    isRaw || !isEmpty && allSatisfy { $0.action.part == .end }
  }

  /// The time at which the head is sent: the latest time of the leading steps that describe it,
  /// else the time of the first other step.
  fileprivate var headMoment: ResponseScript.Moment {
    let leading = prefix { $0.action.part == .head && !$0.isFieldDrip }
    if let latest = leading.compactMap(\.at).max() { return .at(latest) }
    return leading.isEmpty ? first { !$0.isFieldDrip }?.moment ?? .after(.zero) : .after(.zero)
  }

  fileprivate var isEndless: Bool {
    contains { $0.repetition == .forever && $0.action.part == .body }
  }

  /// Whether the last step leaves the length of the body undefined.
  fileprivate var breaksOff: Bool {
    switch last?.action {
    case .stall, .reset, .fetcher: true
    case .status, .header, .redirect, .length, .send, .text, .hex, .raw, .close, .cut, .goAway, .flood, nil: false
    }
  }

  /// The number of body bytes sent.
  fileprivate var sentCount: Int {
    ResponseMoves(bodyOf: self).reduce(0) { $0 + $1.action.bodyCount }
  }

  /// The size in bytes of all texts and of each file that is sent, even in part.
  fileprivate var wholeCount: Int {
    let files = Dictionary(grouping: filter { $0.repetition != .forever }) { $0.medium?.name }.values
    return files.reduce(sentCount) { $0 + Swift.max(0, ($1[0].medium?.bytes.count ?? 0) - $1.sentCount) }
  }
}

extension ResponseScript.Head {
  fileprivate init(_ steps: [OriginStep]) {
    var (status, usual, length, fields) = (Int?.none, 200, OriginStep.Length?.none, [HeaderField]())
    for step in steps {
      switch step.action {
      case .status(let code): status = code
      case .length(let declared): length = declared
      case .redirect(let location):
        usual = 302
        fields.append(HeaderField("Location", location))
      case .header(let name, let value) where !step.isFieldDrip: fields += Array(repeating: HeaderField(name, value), count: step.times)
      case .header, .send, .text, .hex, .raw, .stall, .reset, .close, .cut, .goAway, .flood, .fetcher: break
      }
    }
    self.status = status ?? usual
    self.fields = fields
    framing = .untilClose
    framing = chooseFraming(length, steps)
    self.fields += framingFields(declaresLength: length != nil)
  }

  /// Returns the framing. Without a length step, the length is the real one. Framing fields that
  /// the steps set are not supplemented.
  private func chooseFraming(_ length: OriginStep.Length?, _ steps: [OriginStep]) -> ResponseScript.Framing {
    switch length {
    case .bytes(let count)?: return .length(count)
    case .offBy(let error)?: return .length(Swift.max(0, steps.wholeCount + error))
    case .chunked?: return .chunked
    case .absent?: return .untilClose
    case nil: break
    }
    let lengths = fields.filter { $0.name.lowercased() == "content-length" }.map(\.value)
    let codings = fields.filter { $0.name.lowercased() == "transfer-encoding" }
    if codings.isEmpty, lengths.count == 1, let count = Int(lengths[0]), count >= 0 { return .length(count) }
    guard lengths.isEmpty, codings.isEmpty else { return .asWritten }
    let count = steps.wholeCount
    // A stall after the head counts as a stall within a body of unknown length.
    return steps.isEndless ? .chunked : count == 0 && steps.breaksOff ? .untilClose : .length(count)
  }

  private func framingFields(declaresLength: Bool) -> [HeaderField] {
    let isNamed = fields.contains { ["content-length", "transfer-encoding"].contains($0.name.lowercased()) }
    guard declaresLength || !isNamed else { return [] }
    switch framing {
    case .length(let count): return allowsBody || declaresLength ? [HeaderField("Content-Length", String(count))] : []
    case .chunked: return [HeaderField("Transfer-Encoding", "chunked")]
    case .untilClose: return [HeaderField("Connection", "close")]
    case .asWritten: return []
    }
  }

  /// RFC 9110, 6.4.1: 1xx, 204 and 304 have no body.
  var allowsBody: Bool {
    status >= 200 && status != 204 && status != 304
  }

  /// Returns the action after the last step. If the body differs from its declared length, or has
  /// none, the connection closes.
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

  /// Whether the step is a field that repeats forever, or repeats with a pause. Each such field is
  /// sent separately.
  fileprivate var isFieldDrip: Bool {
    if case .header = action { repetition == .forever || repetition != nil && every != nil } else { false }
  }

  fileprivate var times: Int {
    if case .times(let count)? = repetition { count } else { 1 }
  }

  fileprivate var medium: Medium? {
    if case .send(let medium, _) = action { medium } else { nil }
  }
}

extension OriginStep.Action {
  /// The part of a response that an action can belong to. Nothing follows the end.
  enum Part { case head, body, end }

  var part: Part {
    switch self {
    case .status, .header, .redirect, .length: .head
    case .send, .text, .hex, .raw: .body
    case .stall, .reset, .close, .cut, .goAway, .flood, .fetcher: .end
    }
  }
}

extension ResponseScript.Action {
  fileprivate var bodyCount: Int {
    if case .body(let bytes) = self { bytes.count } else { 0 }
  }
}
