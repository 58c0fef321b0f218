/// Recognizes the envelopes of push services by the members of a line without a top-level `aps`.
final class EnvelopeReader {
  private enum Key: Int, CaseIterable {
    case message, apns, android, webpush, notification, publishedMessage, notifications, platform, app, to, token, topic, condition
    case registrations

    var name: String {
      switch self {
      case .publishedMessage: "Message"
      case .app: "app_id"
      case .registrations: "registration_ids"
      case .message, .apns, .android, .webpush, .notification, .notifications, .platform, .to, .token, .topic, .condition: "\(self)"
      }
    }
  }

  private let members = MemberLookup(Key.allCases.map(\.name) + SNSEnvelope.names)
  /// The indexes of SNS's names among the members.
  private let platforms = Key.allCases.count..<Key.allCases.count + SNSEnvelope.names.count

  /// Whether the line is an array of Expo's messages.
  private var isList = false

  /// Whether the line is a list, or has a member that a service's request has.
  var hasNames: Bool { isList || members.count > 0 }

  /// Reads the top level of a line, for ``forms`` and ``hasNames``.
  func look(at root: JSONElement) {
    isList = root.isArray
    members.find(in: root)
  }

  /// The forms that the top level of the line allows, the most likely first. There may be several,
  /// because services ignore members that they do not know.
  var forms: [Envelope.Form] {
    guard hasNames else { return [] }
    if isList { return [.expo] }
    var forms: [Envelope.Form] = []
    if isMessage { forms.append(.fcm) }
    if self[.publishedMessage]?.isText == true || platforms.contains(where: { members[$0]?.isText == true }) { forms.append(.sns) }
    if self[.notifications]?.isArray == true || self[.platform]?.number == 1 { forms.append(.gorush) }
    if self[.app]?.isText == true { forms.append(.oneSignal) }
    if self[.to] != nil { forms.append(.expo) }
    return forms
  }

  /// Whether the line is FCM's request, or its message alone.
  private var isMessage: Bool {
    if [.message, .apns, .android, .webpush].contains(where: { self[$0]?.isObject == true }) { return true }
    return self[.notification]?.isObject == true && [.token, .topic, .condition].contains { self[$0]?.isText == true }
  }

  private subscript(key: Key) -> JSONElement? { members[key.rawValue] }
}

extension OpenedEnvelope {
  /// Opens a line of that form and returns its payloads, usually one. Returns none if the line does
  /// not have the form or has no place for the member.
  ///
  /// - Parameters:
  ///   - text: the line.
  ///   - inner: parses JSON in strings.
  static func all(_ form: Envelope.Form, _ text: JSONText, inner: JSONParser) -> [OpenedEnvelope] {
    switch form {
    case .fcm: [FCMEnvelope.open(text)].compactMap { $0 }
    case .sns: [SNSEnvelope.open(text, inner)].compactMap { $0 }
    case .gorush: GorushEnvelope.open(text)
    case .oneSignal: [OneSignalEnvelope.open(text)].compactMap { $0 }
    case .expo: ExpoEnvelope.open(text)
    case .fcmLegacy, .path: []
    }
  }
}
