/// Opens one line after another: finds the payload, and the place in the line for the result.
///
/// An opener owns the parsers, so only one thread at a time may use it. Its results are valid until
/// it opens the next line.
package final class LineOpener {
  /// The kind of a line.
  package enum Opening {
    /// The line contains only white space.
    case blank
    /// The line is longer than ``PayloadReader/maximumLineLength``.
    case overlong
    /// The line is neither a JSON object nor an array of Expo's messages.
    case invalid
    /// The line is a JSON object without an object at the payload path.
    case empty
    /// The line has the form of a push service's envelope but cannot be opened.
    case unopened(UnopenedEnvelope)
    /// The payload as APNs receives it: the first of the line. ``LineOpener/next()`` returns the
    /// others.
    case payload(JSONElement)
  }

  /// The message around a payload. Its service makes the payload of some of its members.
  package struct Message {
    let object: JSONElement
    /// The place of the object in the line.
    let tokens: [JSONPointer.Token]
    let form: Envelope.Form
  }

  private enum Key: Int {
    case aps, output
  }

  private let parser = JSONParser()
  /// Parses JSON in strings of the line, and payloads that a service builds from it. These are
  /// hardly longer than the line.
  private let inner = JSONParser(capacity: JSONParser.maximumLength + 4_096)
  private let search: MemberSearch
  private let members: MemberLookup
  private let outputKey: String
  /// The place of the payload, as given; empty if it is the whole line, or where an envelope has it.
  let path: JSONPointer
  private let envelopes = EnvelopeReader()
  private let readsDelivery: Bool
  /// The envelope of the payload that was opened last; nil if the line itself is the payload.
  package private(set) var envelope: Envelope?
  /// What prevents opening a message of the line, although others are opened.
  package private(set) var unopened: UnopenedEnvelope?
  /// The remaining payloads of the line.
  private var others: ArraySlice<OpenedEnvelope> = []
  /// The position of the payload; nil if it is the whole line, or if no string is around it.
  package private(set) var place: PayloadPlace?
  /// The path to the payload if no string is around it: at each level, its index among its
  /// siblings.
  private var steps: [Int] = []
  /// The line, if it has no `aps` at its top, or if a path leads to its payload.
  private(set) var root: JSONElement?
  /// Whether the last line set none of the properties above, so that ``open(_:)`` need not clear
  /// them. Checking this flag costs almost nothing.
  private(set) var isPlain = true
  /// The range of the line's JSON, without byte order mark and white space.
  package private(set) var json = 0..<0

  /// Creates an opener.
  ///
  /// - Parameters:
  ///   - path: the place of the payload in the line; nil means the whole line, or the place that a
  ///     push service's envelope defines.
  ///   - readsDelivery: whether to also fill in the token, the time and the headers of
  ///     ``Envelope``.
  package init(outputKey: String = "attache", path: JSONPointer? = nil, readsDelivery: Bool = false) {
    search = MemberSearch(name: outputKey, inner: inner)
    members = MemberLookup(["aps", outputKey])
    self.outputKey = outputKey
    self.path = path ?? JSONPointer()
    self.readsDelivery = readsDelivery
  }

  /// Whether memory for the parsers could be allocated.
  package var hasMemory: Bool { parser.hasMemory && inner.hasMemory }

  /// The payload's `aps`.
  package var aps: JSONElement? { members[Key.aps.rawValue] }

  /// Whether the last line already has the member that attache adds, for any kind of push: in the
  /// payload, at the top of the line, or in an object between the top and the place where attache
  /// would write it.
  package var isEnriched: Bool { members[Key.output.rawValue] != nil || !isPlain && isEnvelopeEnriched }
  /// Whether an object around the payload has the member.
  private var isEnvelopeEnriched = false
  /// Whether the last search along the payload path found a name several times.
  private var isRepeated = false

  /// Opens a line.
  ///
  /// - Parameter line: the line, as for ``PayloadReader/read(_:)``.
  package func open(_ line: UnsafeRawBufferPointer) -> Opening {
    if !isPlain {
      (place, envelope, others, steps, root, isEnvelopeEnriched, isPlain) = (nil, nil, [], [], nil, false, true)
      unopened = nil
    }
    let bytes = unsafe Self.trim(line)
    json = unsafe bytes.startIndex..<bytes.endIndex
    guard !json.isEmpty else { return .blank }
    guard json.count <= JSONParser.maximumLength else { return .overlong }
    let text = unsafe UnsafeRawBufferPointer(rebasing: bytes)
    guard let root = unsafe parser.parse(text) else { return .invalid }
    guard root.isObject || path.tokens.isEmpty && root.isListOfExpo else { return .invalid }
    guard path.tokens.isEmpty else {
      let payload = unsafe open(path, from: root, in: text)
      members.find(in: payload)
      return payload.map(Opening.payload) ?? .empty
    }
    members.find(in: root)
    guard aps == nil else { return .payload(root) }
    (self.root, isPlain) = (root, false)
    if let payload = unsafe openEnvelope(root, text) { return .payload(payload) }
    guard hasNamesOfServices else { return .payload(root) }
    return UnopenedEnvelope(of: root).map(Opening.unopened) ?? .payload(root)
  }

  /// Returns the line's next payload; nil after the last. This invalidates the previous payload.
  package func next() -> JSONElement? {
    guard let opened = others.popFirst() else { return nil }
    return show(opened) ?? next()
  }

  /// The message around the payload that was read last; nil if the line itself is the payload, or if
  /// the message is not at a place that every service spells in one way.
  package var message: Message? {
    guard let root, let envelope else { return nil }
    guard let number = envelope.notification else { return Message(object: root, tokens: [], form: envelope.form) }
    let tokens = (root.isArray ? [] : [JSONPointer.Token("notifications")]) + [JSONPointer.Token(index: number - 1)]
    return root.value(at: tokens).map { Message(object: $0, tokens: tokens, form: envelope.form) }
  }

  /// Whether a line without `aps` has a member that requests of services have.
  var hasNamesOfServices: Bool { envelopes.hasNames }

  /// The line's delivery information, before ``next()`` is called. For several payloads, it
  /// contains the values that they all share.
  var lineEnvelope: Envelope? {
    others.reduce(envelope) { $0?.common(with: $1.envelope) }
  }

  /// The maximum payload size that APNs accepts, and the maximum for VoIP, in bytes.
  ///
  /// Source:
  /// https://developer.apple.com/documentation/usernotifications/generating-a-remote-notification
  package static let (maximumPayload, maximumVoIPPayload) = (4_096, 5_120)

  /// The size in bytes that the payload may have, so that APNs accepts what its service makes of it.
  package var maximumSize: Int {
    guard !isPlain else { return Self.maximumPayload }
    let maximum = envelope?.pushType == "voip" || place?.leadsToVoIP == true ? Self.maximumVoIPPayload : Self.maximumPayload
    return maximum - (envelope?.form.addedBytes ?? 0)
  }

  /// Returns the payload as APNs receives it.
  ///
  /// - Parameter line: the line that was opened last.
  package func payload(in line: UnsafeRawBufferPointer) -> [UInt8] {
    if let place, let built = place.built ?? place.text.map({ Array($0.source(place.object)) }) { return built }
    return unsafe Array(line[splice(of: line).payload])
  }

  /// Returns the place in the line for the member, and the size that APNs receives.
  ///
  /// - Parameter line: the line that was opened last.
  package func splice(of line: UnsafeRawBufferPointer) -> Splice {
    if let place { return place.splice }
    if steps.isEmpty, let brace = unsafe line[json].firstIndex(of: UInt8(ascii: "{")) { return Splice(payload: brace..<json.upperBound) }
    let bytes = unsafe UnsafeRawBufferPointer(rebasing: line[json]).bindMemory(to: UInt8.self)
    let range = unsafe bytes.span.rangeOfValue(at: steps)
    return Splice(payload: json.lowerBound + range.lowerBound..<json.lowerBound + range.upperBound)
  }

  /// Returns the line without the byte order mark and trailing white space.
  private static func trim(_ line: UnsafeRawBufferPointer) -> Slice<UnsafeRawBufferPointer> {
    var end = line.count
    while end > 0, unsafe line[end - 1].isJSONSpace { end -= 1 }
    let hasMark = unsafe end >= 3 && line[0] == 0xEF && line[1] == 0xBB && line[2] == 0xBF
    return unsafe line[(hasMark ? 3 : 0)..<end]
  }

  private func openEnvelope(_ root: JSONElement, _ json: UnsafeRawBufferPointer) -> JSONElement? {
    envelopes.look(at: root)
    let forms = envelopes.forms
    guard !forms.isEmpty || root.leadsToMember else { return nil }
    let text = JSONText(unsafe Array(json))
    (isEnvelopeEnriched, self.root, isPlain) = (search.finds(inEnvelope: text), root, false)
    let opened = forms.lazy.map { OpenedEnvelope.all($0, text, inner: self.inner) }.first { !$0.isEmpty }
    guard var opened else { return nil }
    if root.isArray, opened.count < text.elements(of: text.root).count { unopened = UnopenedEnvelope(of: root) }
    if readsDelivery {
      var members = DeliveryMembers(text)
      for index in opened.indices { opened[index].envelope.readDelivery(opened[index].delivery, &members) }
    }
    isEnvelopeEnriched = isEnvelopeEnriched || members[Key.output.rawValue] != nil
    others = opened[...]
    return next()
  }

  private func show(_ opened: OpenedEnvelope) -> JSONElement? {
    guard let built = opened.place.built, let payload = inner.parse(copying: built) else { return nil }
    members.find(in: payload)
    (envelope, place) = (opened.envelope, opened.place)
    place?.start = json.lowerBound
    return payload
  }

  /// Returns the object at the payload path. If a name on the path appears several times, the
  /// search for the member follows each of them.
  private func open(_ path: JSONPointer, from root: JSONElement, in json: UnsafeRawBufferPointer) -> JSONElement? {
    isRepeated = false
    let payload = unsafe follow(from: root, in: json)
    guard isRepeated, !isEnvelopeEnriched else { return payload }
    (isEnvelopeEnriched, isPlain) = (search.finds(at: path, in: JSONText(unsafe Array(json))), false)
    // The search used the same parser and may have invalidated the payload, so find it again.
    return unsafe follow(from: root, in: json)
  }

  /// Returns the object at the payload path, which may lead into strings that hold JSON.
  private func follow(from root: JSONElement, in json: UnsafeRawBufferPointer) -> JSONElement? {
    var way = Way(value: root)
    for token in path.tokens {
      if way.value.isText, unsafe !enter(&way, json) { return nil }
      if way.value.member(outputKey) != nil { (isEnvelopeEnriched, isPlain) = (true, false) }
      guard let child = way.value.child(token) else { return nil }
      if child.isRepeated { isRepeated = true }
      way.value = child.element
      way.steps.append(child.place)
    }
    if way.value.isText, unsafe !enter(&way, json) { return nil }
    guard way.value.isObject else { return nil }
    (envelope, self.root, isPlain) = (Envelope(.path), root, false)
    if readsDelivery {
      var members = DeliveryMembers(JSONText(unsafe Array(json)))
      envelope?.readDelivery([members.text.root], &members)
    }
    if let text = way.text {
      let object = text.bytes.span.rangeOfValue(at: way.steps)
      place = PayloadPlace(
        start: self.json.lowerBound, levels: way.levels, text: text, object: object, isEmptyObject: text.members(of: object).isEmpty)
      place?.alert = AlertPlace(apsOf: object, in: text)
    } else {
      steps = way.steps
    }
    return way.value
  }

  /// The progress along a path.
  private struct Way {
    var value: JSONElement
    /// The indexes within the innermost text.
    var steps: [Int] = []
    var levels: [PayloadPlace.Level] = []
    /// The innermost text; nil for the line.
    var text: JSONText?
  }

  /// Continues in the JSON that the current string holds.
  private func enter(_ way: inout Way, _ json: UnsafeRawBufferPointer) -> Bool {
    let text = way.text ?? JSONText(unsafe Array(json))
    let string = text.bytes.span.rangeOfValue(at: way.steps).withoutQuotes
    let bytes = JSONString.unescaped(text.bytes.span, string)
    guard let value = inner.parse(copying: bytes) else { return false }
    way.levels.append(PayloadPlace.Level(text: text, string: string))
    (way.value, way.steps, way.text) = (value, [], JSONText(bytes))
    return true
  }
}
