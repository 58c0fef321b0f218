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
  /// The largest payload of a broadcast in bytes.
  ///
  /// Source:
  /// https://developer.apple.com/documentation/usernotifications/sending-broadcast-push-notification-requests-to-apns
  static let maximumBroadcast = 5_120
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
      outputKey: configuration.outputKey, payloadPath: configuration.payloadPath, tokenPath: configuration.tokenPath,
      channelPath: configuration.channelPath)
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
    let channel = push.channel?.string
    let token = channel == nil ? configuration.deviceToken ?? push.token?.string : nil
    if let channel {
      guard Self.isChannel(channel) else {
        return drop("BadChannelId: \(PrintableText.of(channel)) is not the identifier of a channel, which Apple issues in Base64")
      }
    } else if let token {
      guard Self.isToken(token) else {
        return drop("BadDeviceToken: \(PrintableText.of(token)) is not a device token, which has hexadecimal digits")
      }
    } else {
      let channels = configuration.channelPath.map { ", and no channel at \($0)" } ?? ""
      return drop("no device token\(channels); write one per line in an envelope, or give its path with --apns-token-path")
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
    if channel != nil, type != .liveactivity {
      return drop("InvalidPushType: a broadcast updates Live Activities, but the push type is \(PrintableText.of(pushType))")
    }
    let maximum = channel != nil ? Self.maximumBroadcast : type == .voip ? Self.maximumVoIPPayload : Self.maximumPayload
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
    let identifier = PushIdentifier(queue: configuration.queueName, payload: delivery.token.id).text
    let priority = Self.priority(push.envelope?.priority, type)
    let expiration = (push.envelope?.expiration ?? delivery.expiresAt.map { Int($0.components.seconds) }).flatMap {
      $0 < 0 ? nil : String($0)
    }
    guard let token else {
      let app = String(decoding: topic.utf8.dropLast(PushType.liveactivity.topicSuffix.utf8.count), as: UTF8.self)
      guard Self.isBundle(app) else {
        let text = "a broadcast needs the app's bundle identifier, and \(PrintableText.of(app)) is none"
        return own == nil ? refuse("--apns-topic: \(text)") : drop("BadTopic: \(text)")
      }
      let request = PushRequest(delivery.token, broadcastTo: app, hasOwnTopic: own != nil, body: push.payload)
      request.add(.requestID, identifier)
      request.add(.channelID, channel ?? "")
      request.add(.pushType, pushType)
      request.add(.priority, priority)
      // Apple requires it. With 0 Apple stores nothing, which every channel allows.
      request.add(.expiration, expiration ?? "0")
      return .request(request)
    }
    let request = PushRequest(delivery.token, deviceToken: token, hasOwnTopic: own != nil, body: push.payload)
    request.add(.identifier, identifier)
    request.add(.pushType, pushType)
    if !topic.isEmpty { request.add(.topic, topic) }
    request.add(.priority, priority)
    if let expiration { request.add(.expiration, expiration) }
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

  /// Whether a text can be a channel's identifier: Base64, with at most the length of a header.
  private static func isChannel(_ text: String) -> Bool {
    1...maximumHeader ~= text.utf8.count
      && text.utf8.allSatisfy { byte in
        isLetterOrDigit(byte)
          || [UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="), UInt8(ascii: "-"), UInt8(ascii: "_")].contains(byte)
      }
  }

  /// Whether a text can be a bundle identifier, and so a part of a path.
  ///
  /// Source: https://developer.apple.com/documentation/bundleresources/information-property-list/cfbundleidentifier
  private static func isBundle(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") }
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    default: false
    }
  }

  /// Whether a text is a valid header value: printable ASCII, without a space at either end.
  private static func isHeader(_ text: String, maximumBytes: Int) -> Bool {
    1...maximumBytes ~= text.utf8.count && text.utf8.allSatisfy { 0x20...0x7E ~= $0 } && text.utf8.first != 0x20 && text.utf8.last != 0x20
  }
}
