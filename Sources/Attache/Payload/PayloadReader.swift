/// Reads one line after another: decides whether it is a payload and a candidate, and which media
/// it has.
///
/// A reader owns a parser and its buffers, so only one thread at a time may use it. If several
/// members have the same name, the last one counts, as in jq, Python and JavaScript.
package final class PayloadReader {
  /// The maximum length of a line, without its line ending: 1 MiB. Every line up to this length is
  /// read, however deeply it is nested.
  package static let maximumLineLength = JSONParser.maximumLength
  /// The number of bytes after a line that must be readable for ``read(_:)``. Their content does
  /// not matter.
  package static let padding = JSONParser.padding

  private let opener: LineOpener
  private let aps = ApsReader()
  private let dialects: DialectEngine
  private let unread = UnreadMediaSearch()
  /// Returns a payload's replacements for the texts of its alert; nil keeps the texts.
  private let overrides: ((JSONElement) -> [DialectText.Override])?
  /// The public addresses that replace the URLs of attached media; nil keeps the URLs.
  private let address: StoreAddress?
  /// Whether to replace the URLs of a message's pictures too, whatever device shows them.
  private let readsPictures: Bool

  /// Creates a reader.
  ///
  /// - Parameters:
  ///   - outputKey: the name of the member that is added to an attached payload. A line that
  ///     already has it, in the payload or around it, passes through.
  ///   - payloadPath: the place of the payload in the line; nil means the whole line, or the place
  ///     that a push service's envelope defines.
  ///   - dialects: the dialects that look for media.
  ///   - appliesOverrides: whether to change the alert's texts as the vendor's own helper would.
  ///   - publicURL: the base URL of the addresses that replace the URLs of attached media. URLs that
  ///     are already such addresses are left alone. With nil, all URLs stay.
  package convenience init(
    outputKey: String = "attache", payloadPath: JSONPointer? = nil, dialects: DialectTable = DialectTable(), appliesOverrides: Bool = false,
    publicURL: String? = nil
  ) {
    let engine = DialectEngine(dialects)
    let overrides = appliesOverrides ? { engine.text(in: $0)?.overrides ?? [] } : nil
    self.init(outputKey, payloadPath, engine, overrides: overrides, address: publicURL.map(StoreAddress.init))
  }

  init(
    _ outputKey: String, _ path: JSONPointer?, _ dialects: DialectEngine, overrides: ((JSONElement) -> [DialectText.Override])?,
    address: StoreAddress? = nil
  ) {
    self.address = address
    opener = LineOpener(outputKey: outputKey, path: path)
    self.dialects = dialects
    readsPictures = address != nil && dialects.has("firebase")
    self.overrides = overrides
  }

  /// Checks that memory for the parsers could be allocated. Call it before the first line: without
  /// memory, every line would appear to be invalid JSON.
  ///
  /// - Throws: ``SystemError`` of `malloc`.
  package func checkMemory() throws(SystemError) {
    guard opener.hasMemory, dialects.hasMemory else { throw .noMemory }
  }

  /// Reads a line.
  ///
  /// A blank line, or one longer than ``maximumLineLength``, passes through. Anything else that is
  /// not a JSON object is invalid. A valid line without an object at the payload path passes
  /// through, because there is nothing to do.
  ///
  /// - Parameter line: the line without its line ending. White space at both ends, a `\r` and a
  ///   leading byte order mark are allowed. ``padding`` bytes after it must be readable.
  package func read(_ line: UnsafeRawBufferPointer) -> Reading {
    switch unsafe opener.open(line) {
    case .blank: return .passthrough(.nothing, .payloadNoAlert, .blank)
    case .empty where opener.isEnriched: return .passthrough(.nothing, .payloadEnriched)
    case .empty: return .passthrough(.nothing, .payloadNoAlert, .noPayload(opener.path))
    case .overlong: return .passthrough(.nothing, .payloadSize)
    case .invalid: return .invalid(.payloadJSON)
    case .unopened where opener.isEnriched: return .passthrough(.nothing, .payloadEnriched)
    case .unopened(let envelope): return envelope.isForOthers ? .passthrough(.nothing, .payloadNoAlert) : .unopened(envelope)
    case .payload(let payload): return unsafe read(payload, of: line)
    }
  }

  private func read(_ first: JSONElement, of line: UnsafeRawBufferPointer) -> Reading {
    let firstKind = aps.read(opener.aps)
    guard !opener.isEnriched else { return .passthrough(firstKind, .payloadEnriched) }
    var flag = aps.flag
    // Most lines that pass end here.
    if opener.isPlain, !flag.isSet { return .passthrough(firstKind, reasonToPass(firstKind), causeToPass(firstKind, flag)) }
    var candidates: [Payload] = []
    var (next, kind) = (first as JSONElement?, firstKind)
    var reason = reasonToPass(firstKind)
    let cause = causeToPass(firstKind, flag)
    while let payload = next {
      let wakesExtension = kind == .alert && flag.isSet
      if wakesExtension || readsPictures && opener.place?.pictures.isEmpty == false {
        let candidate = unsafe candidate(payload, of: line, wakesExtension)
        if candidate.isPublished { reason = .payloadEnriched } else { candidates.append(candidate) }
      }
      next = opener.next()
      if next != nil { (kind, flag) = (aps.read(opener.aps), aps.flag) }
    }
    guard !candidates.isEmpty else {
      guard reason != .payloadEnriched, let unopened = opener.unopened else {
        return .passthrough(firstKind, reason, reason == .payloadEnriched ? nil : cause)
      }
      return .unopened(unopened)
    }
    if let unopened = opener.unopened { candidates[0].unopened = unopened }
    return .candidates(candidates)
  }

  /// Returns what is known about a payload of that kind, should no candidate be in its line.
  private func causeToPass(_ kind: PushKind, _ flag: ApsReader.Flag) -> LineCause? {
    switch (kind, flag) {
    case (.alert, .set): nil
    case (.alert, .mistake(let mistake)): .wrongFlag(mistake)
    case (.alert, .none): opener.isPlain ? nil : opener.envelope.map { .noFlag($0.form) }
    case (_, .liveActivity): .liveActivity
    case (.nothing, _): opener.shape ?? opener.envelope.map { .noAlert($0.form) }
    case (.silent, _), (.soundOrBadge, _): nil
    }
  }

  /// Returns why a payload of that kind, which was read last, wakes no service extension.
  private func reasonToPass(_ kind: PushKind) -> Reason {
    switch kind {
    case .alert: .payloadNotMutable
    case .silent: .payloadSilent
    case .soundOrBadge, .nothing: .payloadNoAlert
    }
  }

  private func candidate(_ payload: JSONElement, of line: UnsafeRawBufferPointer, _ wakesExtension: Bool) -> Payload {
    var candidate = Payload(references: [], dialect: nil, splice: unsafe opener.splice(of: line), place: opener.place)
    (candidate.wakesExtension, candidate.maximumSize) = (wakesExtension, opener.maximumSize)
    if wakesExtension {
      let found = dialects.references(in: payload, tracing: address == nil ? .none : .sites)
      candidate.references = found.references.filter { $0.role == .attachment }
      (candidate.dialect, candidate.omitted, candidate.sites) = (found.dialect, found.omitted, found.sites)
      if candidate.references.isEmpty {
        candidate.unread = unread.first(in: payload, besides: found.references) ?? unreadOutside(besides: found.references)
      }
    }
    if readsPictures { candidate.addPictures() }
    if let address { candidate.skipPublished(address) }
    if let overrides, !candidate.references.isEmpty { candidate.overrides = ContentEdit(overrides(payload)) }
    return candidate
  }

  /// Returns the first string of the message around the payload that looks like a media URL.
  private func unreadOutside(besides pictures: [MediaReference]) -> UnreadMedia? {
    guard let message = opener.message else { return nil }
    var first: UnreadMedia?
    unread.forEach(outside: message, besides: pictures, aps.content()) { media, _ in
      first = media
      return false
    }
    return first
  }
}

extension Payload {
  /// Adds the pictures of the message that no reference names yet.
  fileprivate mutating func addPictures() {
    for picture in place?.pictures ?? [] where !references.contains(where: { $0.url == picture.url }) {
      references.append(picture.reference)
      dialect = dialect ?? "firebase"
    }
  }

  /// Removes the URLs that are already addresses of the store.
  fileprivate mutating func skipPublished(_ address: StoreAddress) {
    let count = references.count
    references.removeAll { address.matches($0.url) }
    for index in references.indices { references[index].fallbacks.removeAll(where: address.matches) }
    isPublished = references.isEmpty && count > 0
  }
}

/// The result of reading one line.
package enum Reading: Hashable, Sendable {
  /// The line is not a JSON object.
  case invalid(Reason)
  /// There is nothing to attach: the line has no candidate, is too long, or already has the output
  /// member.
  case passthrough(PushKind, Reason, LineCause? = nil)
  /// A push service's envelope that cannot be opened, so nothing can be attached.
  case unopened(UnopenedEnvelope)
  /// The payloads of the line that wake a service extension, with or without media: one, or several
  /// notifications of a request.
  case candidates([Payload])
}
