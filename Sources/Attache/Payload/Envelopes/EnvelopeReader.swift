/// Recognises the envelopes of push services by the members of a line that has no `aps` at its top.
final class EnvelopeReader {
  private enum Key: Int, CaseIterable {
    case message, apns, publishedMessage, notifications, platform, app, to

    var name: String {
      switch self {
      case .message: "message"
      case .apns: "apns"
      case .publishedMessage: "Message"
      case .notifications: "notifications"
      case .platform: "platform"
      case .app: "app_id"
      case .to: "to"
      }
    }
  }

  private let members = MemberLookup(Key.allCases.map(\.name) + SNSEnvelope.names)
  /// Where SNS's names stand among the members.
  private let platforms = Key.allCases.count..<Key.allCases.count + SNSEnvelope.names.count

  /// Looks at the top of a line, for ``forms``.
  func look(at root: JSONElement) {
    members.find(in: root)
  }

  /// The forms that the line may have, as far as its top says, the likeliest first. Services ignore
  /// members that they do not know, so there may be several.
  var forms: [Envelope.Form] {
    var forms: [Envelope.Form] = []
    if self[.message]?.isObject == true || self[.apns]?.isObject == true { forms.append(.fcm) }
    if self[.publishedMessage]?.isText == true || platforms.contains(where: { members[$0]?.isText == true }) { forms.append(.sns) }
    if self[.notifications]?.isArray == true || self[.platform]?.number == 1 { forms.append(.gorush) }
    if self[.app]?.isText == true { forms.append(.oneSignal) }
    if self[.to] != nil { forms.append(.expo) }
    return forms
  }

  private subscript(key: Key) -> JSONElement? { members[key.rawValue] }
}

/// A line whose payload stands in an envelope.
struct OpenedEnvelope {
  var envelope: Envelope
  /// The payload as the service hands it to APNs, as JSON.
  var payload: [UInt8]
  var place: PayloadPlace
  /// The objects that speak of the delivery, in the text of the envelope; the first to say
  /// something counts.
  var delivery: [Range<Int>] = []

  /// Opens a line of that form: its payloads, mostly one; none when it has not got the form after
  /// all, or has no place for the member.
  ///
  /// - Parameters:
  ///   - text: the line.
  ///   - inner: parses what stands in strings.
  static func all(_ form: Envelope.Form, _ text: JSONText, inner: InnerParser) -> [OpenedEnvelope] {
    switch form {
    case .fcm: [FCMEnvelope.open(text)].compactMap { $0 }
    case .sns: [SNSEnvelope.open(text, inner)].compactMap { $0 }
    case .gorush: GorushEnvelope.open(text)
    case .oneSignal: [OneSignalEnvelope.open(text)].compactMap { $0 }
    case .expo: [ExpoEnvelope.open(text)].compactMap { $0 }
    case .path: []
    }
  }

  init(_ form: Envelope.Form, payload: [UInt8], place: PayloadPlace, delivery: [Range<Int>] = []) {
    envelope = Envelope(form)
    self.payload = payload
    self.place = place
    self.place.payloadCount = payload.count
    self.delivery = delivery
  }
}

extension PayloadPlace {
  /// The member `data` of a message, which is made where there is none; nil when something else has
  /// that name.
  init?(dataOf message: Range<Int>, in text: JSONText) {
    guard let data = text.value("data", of: message) else {
      self.init(object: message, wrapper: "data")
      return
    }
    guard text.isObject(data) else { return nil }
    self.init(object: data, isEmptyObject: text.members(of: data).isEmpty)
  }
}

extension JSONText {
  /// The value at the end of a path when it is a string of at least one byte.
  func text(at path: [String], of object: Range<Int>) -> Range<Int>? {
    let found = path.reduce(object as Range<Int>?) { object, name in object.flatMap { value(name, of: $0) } }
    return found.flatMap { isText($0) ? $0 : nil }
  }

  /// The member when it is an object.
  func object(_ name: String, of object: Range<Int>) -> Range<Int>? {
    value(name, of: object).flatMap { isObject($0) ? $0 : nil }
  }

  /// Whether a flag is set: the number 1 or `true`.
  func isSet(_ name: String, of object: Range<Int>) -> Bool {
    value(name, of: object).map { source($0).elementsEqual("true".utf8) || source($0).elementsEqual("1".utf8) } ?? false
  }
}

extension JSONWriter {
  /// Writes a member as it is written elsewhere.
  mutating func member(_ member: JSONText.Member, of text: JSONText) {
    key(source: text.source(member.name))
    source(text.source(member.value))
  }

  /// Writes a member under another name, when there is one.
  mutating func member(_ name: String, _ value: Range<Int>?, of text: JSONText) {
    guard let value else { return }
    key(name)
    source(text.source(value))
  }

  /// Writes a member that sets one of Apple's flags.
  mutating func flag(_ name: String, _ isSet: Bool) {
    guard isSet else { return }
    key(name)
    integer(1)
  }
}
