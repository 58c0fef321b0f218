package import Attache
package import AttacheQueue

/// Creates requests from results. One thread at a time may use it.
package final class PushRequestMaker {
  /// The outcome for a result.
  package enum Made: Sendable {
    case request(PushRequest)
    /// The result is not sent; this is its answer.
    case answer(DeliveryAnswer)
  }

  /// The largest payload in bytes.
  ///
  /// Source:
  /// https://developer.apple.com/documentation/usernotifications/generating-a-remote-notification
  static let maximumPayload = 4_096
  /// The largest payload of a VoIP push in bytes.
  static let maximumVoIPPayload = 5_120
  /// The longest `apns-collapse-id`, in bytes.
  ///
  /// Source:
  /// https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns
  static let maximumCollapseID = 64
  /// The number of digits of a device token. Apple documents no length; current tokens have 64 to
  /// 200.
  static let tokenLength = 2...400
  /// The maximum length of a topic or a push type in bytes. A bundle identifier has at most 155.
  private static let maximumHeader = 255

  private let reader: PushReader
  private let configuration: APNsConfiguration
  /// Whether any payload has lost its attachments because they have `file:` URLs.
  package private(set) var hasLostMedia = false

  package init(_ configuration: APNsConfiguration) {
    reader = PushReader(
      outputKey: configuration.outputKey, payloadPath: configuration.payloadPath, tokenPath: configuration.tokenPath)
    self.configuration = configuration
  }

  /// Checks, before the first result, that there was memory for the parsers.
  ///
  /// - Throws: ``SystemError`` of `malloc`.
  package func checkMemory() throws(SystemError) {
    try reader.checkMemory()
  }

  package func make(_ delivery: Delivery) -> Made {
    switch reader.read(delivery.line) {
    case .nothing(let why): .answer(.dropped(reason: why))
    case .several(let count):
      .answer(.dropped(reason: "the line contains \(count) notifications, but a request to APNs has one; write each on its own line"))
    case .push(let push): make(push, delivery)
    }
  }

  private func make(_ push: Push, _ delivery: Delivery) -> Made {
    if push.hasLostMedia { hasLostMedia = true }
    guard let token = configuration.deviceToken ?? push.token?.string else {
      return drop("no device token; write one per line in an envelope, or give its path with --apns-token-path")
    }
    guard Self.isToken(token) else {
      return drop("BadDeviceToken: \(PrintableText.of(token)) is not a device token, which has hexadecimal digits")
    }
    let ownType = push.envelope?.pushType?.string
    let pushType = ownType ?? (push.traits.isUnmistakable ? nil : configuration.pushType) ?? push.traits.usualType.rawValue
    guard Self.isHeader(pushType, maximumBytes: Self.maximumHeader) else {
      return drop("InvalidPushType: apns-push-type is not plain text")
    }
    // Apple may add types.
    let type = PushType(rawValue: pushType)
    if let conflict = type.flatMap(push.traits.conflict) {
      return ownType == nil ? refuse("--apns-push-type does not fit: \(conflict)") : drop("InvalidPushType: \(conflict)")
    }
    let maximum = type == .voip ? Self.maximumVoIPPayload : Self.maximumPayload
    guard push.payload.count <= maximum else {
      return drop("PayloadTooLarge: the payload has \(push.payload.count) bytes, and APNs accepts \(maximum); see --max-payload")
    }
    let own = push.envelope?.topic?.string
    guard let given = own ?? configuration.topic ?? (hasCertificate ? "" : nil) else {
      return refuse("the payload has no topic; give the app's bundle identifier with --apns-topic")
    }
    guard let topic = given.isEmpty ? given : type.map({ $0.topic(given) }) ?? given else {
      let text = "\(PrintableText.of(given)) is the topic of another push type than \(pushType); give the app's bundle identifier"
      return own == nil ? refuse("--apns-topic: \(text)") : drop("BadTopic: \(text)")
    }
    guard topic.isEmpty || Self.isHeader(topic, maximumBytes: Self.maximumHeader) else {
      return drop("BadTopic: apns-topic is not plain text")
    }
    let request = PushRequest(delivery.token, deviceToken: token, hasOwnTopic: own != nil, body: push.payload)
    request.add(.identifier, PushIdentifier(queue: configuration.queueName, payload: delivery.token.id).text)
    request.add(.pushType, pushType)
    if !topic.isEmpty { request.add(.topic, topic) }
    request.add(.priority, Self.priority(push.envelope?.priority, type))
    if let expiration = push.envelope?.expiration ?? delivery.expiresAt.map({ Int($0.components.seconds) }), expiration >= 0 {
      request.add(.expiration, String(expiration))
    }
    if let collapseID = push.envelope?.collapseID?.string, !collapseID.isEmpty {
      guard Self.isHeader(collapseID, maximumBytes: Self.maximumCollapseID) else {
        return drop("BadCollapseId: apns-collapse-id must be plain text of at most \(Self.maximumCollapseID) bytes")
      }
      request.add(.collapseID, collapseID)
    }
    return .request(request)
  }

  private var hasCertificate: Bool {
    switch configuration.credentials {
    case .certificate: true
    case .key: false
    }
  }

  /// What the user has set suits no payload like this one.
  private func refuse(_ reason: String) -> Made {
    .answer(.refused(reason: reason))
  }

  private func drop(_ reason: String) -> Made {
    .answer(.dropped(reason: reason))
  }

  /// The value of `apns-priority`: 10 delivers at once, 5 when it suits the device, 1 when it costs
  /// no power. Background pushes must have 5.
  private static func priority(_ given: Int?, _ type: PushType?) -> String {
    if type == .background { return "5" }
    return given.map { [10, 5, 1].contains($0) ? String($0) : "10" } ?? "10"
  }

  private static func isToken(_ text: String) -> Bool {
    tokenLength.contains(text.utf8.count) && text.utf8.count.isMultiple(of: 2)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"): true
        default: false
        }
      }
  }

  /// Whether a text is a valid header value: printable ASCII, without a space at either end.
  private static func isHeader(_ text: String, maximumBytes: Int) -> Bool {
    1...maximumBytes ~= text.utf8.count && text.utf8.allSatisfy { 0x20...0x7E ~= $0 } && text.utf8.first != 0x20 && text.utf8.last != 0x20
  }
}
