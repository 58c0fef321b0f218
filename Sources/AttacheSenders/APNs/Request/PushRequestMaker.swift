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

  /// Who gets a request.
  private enum Receiver {
    case device(String)
    case channel(String)
  }

  /// Why no request is made.
  private struct NotSent: Error {
    let answer: DeliveryAnswer

    /// This payload can never be sent.
    static func drop(_ reason: String) -> NotSent { NotSent(answer: .dropped(reason: reason)) }
    /// What the user has set suits no payload like this one.
    static func refuse(_ reason: String) -> NotSent { NotSent(answer: .refused(reason: reason)) }
  }

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
  /// The maximum length of a topic, a push type or a channel's identifier in bytes. A bundle identifier has at most 155.
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
    do throws(NotSent) {
      let receiver = try receiver(of: push)
      let (name, type) = try pushType(of: push)
      try checkSize(of: push, type, receiver)
      let topic = try topic(of: push, name, type)
      return switch receiver {
      case .device(let token): .request(try request(push, delivery, token, name, type, topic))
      case .channel(let channel): .request(try broadcast(push, delivery, channel, type, topic))
      }
    } catch {
      return .answer(error.answer)
    }
  }

  private func receiver(of push: Push) throws(NotSent) -> Receiver {
    if let channel = push.channel?.string {
      guard Self.isChannel(channel) else {
        throw .drop("BadChannelId: \(PrintableText.of(channel)) is not the identifier of a channel, which Apple issues in Base64")
      }
      return .channel(channel)
    }
    guard let token = configuration.deviceToken ?? push.token?.string else {
      let channels = configuration.channelPath.map { ", and no channel at \($0)" } ?? ""
      throw .drop("no device token\(channels); write one per line in an envelope, or give its path with --apns-token-path")
    }
    guard Self.isToken(token) else {
      throw .drop("BadDeviceToken: \(PrintableText.of(token)) is not a device token, which has hexadecimal digits")
    }
    return .device(token)
  }

  /// Returns the push type by its name, and as Apple documents it; nil if Apple does not, since it may add
  /// types.
  private func pushType(of push: Push) throws(NotSent) -> (name: String, type: PushType?) {
    let own = push.envelope?.pushType?.string
    let name = own ?? (push.traits.isUnmistakable ? nil : configuration.pushType) ?? push.traits.usualType.rawValue
    guard Self.isHeader(name, maximumBytes: Self.maximumHeader) else {
      throw .drop("InvalidPushType: apns-push-type is not plain text")
    }
    let type = PushType(rawValue: name)
    if let conflict = type.flatMap(push.traits.conflict) {
      throw own == nil ? .refuse("--apns-push-type does not fit: \(conflict)") : .drop("InvalidPushType: \(conflict)")
    }
    return (name, type)
  }

  private func checkSize(of push: Push, _ type: PushType?, _ receiver: Receiver) throws(NotSent) {
    let maximum =
      switch receiver {
      case .channel: Self.maximumBroadcast
      case .device: type == .voip ? LineOpener.maximumVoIPPayload : LineOpener.maximumPayload
      }
    guard push.payload.count <= maximum else {
      throw .drop("PayloadTooLarge: the payload has \(push.payload.count) bytes, and APNs accepts \(maximum); see --max-payload")
    }
  }

  /// Returns the topic with the suffix of its push type; empty if the client certificate has the only one.
  private func topic(of push: Push, _ pushType: String, _ type: PushType?) throws(NotSent) -> String {
    guard let given = ownTopic(of: push) ?? configuration.topic ?? (hasCertificate ? "" : nil) else {
      throw .refuse("the payload has no topic; give the app's bundle identifier with --apns-topic")
    }
    guard !given.isEmpty else { return "" }
    guard let topic = type.map({ $0.topic(given) }) ?? given else {
      throw badTopic(
        of: push, "\(PrintableText.of(given)) is the topic of another push type than \(pushType); give the app's bundle identifier")
    }
    guard Self.isHeader(topic, maximumBytes: Self.maximumHeader) else { throw badTopic(of: push, "the topic is not plain text") }
    return topic
  }

  /// The envelope's topic; nil if it is missing or empty.
  private func ownTopic(of push: Push) -> String? {
    push.envelope?.topic.flatMap { $0.isEmpty ? nil : $0.string }
  }

  private func badTopic(of push: Push, _ reason: String) -> NotSent {
    ownTopic(of: push) == nil ? .refuse("--apns-topic: \(reason)") : .drop("BadTopic: \(reason)")
  }

  private func request(
    _ push: Push, _ delivery: Delivery, _ deviceToken: String, _ pushType: String, _ type: PushType?, _ topic: String
  ) throws(NotSent) -> PushRequest {
    let request = PushRequest(delivery.token, to: .device(deviceToken), hasOwnTopic: ownTopic(of: push) != nil, body: push.payload)
    request.add(.identifier, identifier(of: delivery))
    request.add(.pushType, pushType)
    if !topic.isEmpty { request.add(.topic, topic) }
    request.add(.priority, Self.priority(push.envelope?.priority, type))
    if let expiration = push.envelope?.expiration ?? delivery.expiresAt.map({ Int($0.components.seconds) }), expiration >= 0 {
      request.add(.expiration, String(expiration))
    }
    if let collapseID = push.envelope?.collapseID?.string, !collapseID.isEmpty {
      guard Self.isHeader(collapseID, maximumBytes: Self.maximumCollapseID) else {
        throw .drop("BadCollapseId: apns-collapse-id must be plain text of at most \(Self.maximumCollapseID) bytes")
      }
      request.add(.collapseID, collapseID)
    }
    return request
  }

  private func broadcast(
    _ push: Push, _ delivery: Delivery, _ channel: String, _ type: PushType?, _ topic: String
  ) throws(NotSent) -> PushRequest {
    guard type == .liveactivity else {
      throw .drop("InvalidPushType: a broadcast updates a Live Activity, and the payload is for none (aps.event, aps.content-state)")
    }
    guard !topic.isEmpty else { throw .refuse("a broadcast needs the app's bundle identifier; give it with --apns-topic") }
    let app = String(decoding: topic.utf8.dropLast(PushType.liveactivity.topicSuffix.utf8.count), as: UTF8.self)
    guard Self.isBundle(app) else {
      throw badTopic(of: push, "a broadcast needs the app's bundle identifier, and \(PrintableText.of(app)) is none")
    }
    let request = PushRequest(delivery.token, to: .app(app), hasOwnTopic: ownTopic(of: push) != nil, body: push.payload)
    request.add(.requestID, identifier(of: delivery))
    request.add(.channelID, channel)
    request.add(.pushType, PushType.liveactivity.rawValue)
    request.add(.priority, Self.priority(push.envelope?.priority, type))
    // Apple requires it. With 0 Apple stores nothing, which suits every channel. So the time in the queue does not
    // count here: a channel may be one that stores nothing.
    request.add(.expiration, String(max(0, push.envelope?.expiration ?? 0)))
    return request
  }

  private func identifier(of delivery: Delivery) -> String {
    PushIdentifier(queue: configuration.queueName, payload: delivery.token.id).text
  }

  private var hasCertificate: Bool {
    switch configuration.credentials {
    case .certificate: true
    case .key: false
    }
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
      && text.utf8.allSatisfy { isLetterOrDigit($0) || "+/=-_".utf8.contains($0) }
  }

  /// Whether a text can be a bundle identifier, and so a part of a path. It has no empty part, which excludes `..`.
  ///
  /// Source: https://developer.apple.com/documentation/bundleresources/information-property-list/cfbundleidentifier
  private static func isBundle(_ text: String) -> Bool {
    text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy { part in
      !part.isEmpty && part.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "-") }
    }
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
