internal import Attache
internal import AttacheQueue

/// A header of a request, beside those that each request of a connection has alike.
///
/// Source:
/// https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns
enum PushHeader: CaseIterable {
  case path, identifier, pushType, topic, priority, expiration, collapseID

  var name: StaticString {
    switch self {
    case .path: ":path"
    case .identifier: "apns-id"
    case .pushType: "apns-push-type"
    case .topic: "apns-topic"
    case .priority: "apns-priority"
    case .expiration: "apns-expiration"
    case .collapseID: "apns-collapse-id"
    }
  }

  /// Whether requests mostly have different values: then HPACK's table does not take them.
  var isUnique: Bool {
    switch self {
    case .path, .identifier, .collapseID: true
    case .pushType, .topic, .priority, .expiration: false
    }
  }
}

/// A request to APNs: one payload for one device.
///
/// `@unchecked Sendable`: what changes is touched on the sender's loop alone, once it was handed
/// over.
package final class PushRequest: @unchecked Sendable {
  let token: LeaseToken
  package let deviceToken: String
  /// Whether the topic is the envelope's own, and no setting of the sender's user.
  let hasOwnTopic: Bool
  let body: [UInt8]
  /// The headers' values, one behind the other.
  private(set) var values: [UInt8] = []
  private(set) var headers: [(header: PushHeader, range: Range<Int>)] = []

  /// How often it was sent and certainly not looked at.
  var refusals = 0
  /// How often Apple called its token expired.
  var expiredTokens = 0
  /// The ``ProviderTokenState/number`` of the token that it was sent with.
  var tokenNumber = 0
  /// Since when it waits for a connection; nil before it does.
  var waitsSince: MonotonicInstant?

  init(_ token: LeaseToken, deviceToken: String, hasOwnTopic: Bool, body: [UInt8]) {
    (self.token, self.deviceToken, self.hasOwnTopic, self.body) = (token, deviceToken, hasOwnTopic, body)
    values.reserveCapacity(256)
    add(.path, "/3/device/\(deviceToken)")
  }

  /// Adds a header, whose value was checked.
  func add(_ header: PushHeader, _ value: String) {
    let start = values.count
    values += value.utf8
    headers.append((header, start..<values.count))
  }

  /// The value of a header; nil when it has none.
  package func value(of name: String) -> String? {
    headers.first { $0.header.name.description == name }.map { String(decoding: values[$0.range], as: UTF8.self) }
  }
}
