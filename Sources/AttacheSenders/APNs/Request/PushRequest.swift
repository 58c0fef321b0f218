internal import Attache
internal import AttacheQueue

/// A header that differs between the requests of a connection.
///
/// Sources:
/// https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns,
/// https://developer.apple.com/documentation/usernotifications/sending-broadcast-push-notification-requests-to-apns
enum PushHeader: CaseIterable {
  case path, identifier, pushType, topic, priority, expiration, collapseID
  /// The identifier and the receiver of a broadcast.
  case requestID, channelID

  var name: StaticString {
    switch self {
    case .path: ":path"
    case .identifier: "apns-id"
    case .pushType: "apns-push-type"
    case .topic: "apns-topic"
    case .priority: "apns-priority"
    case .expiration: "apns-expiration"
    case .collapseID: "apns-collapse-id"
    case .requestID: "apns-request-id"
    case .channelID: "apns-channel-id"
    }
  }

  /// Whether most requests have different values. HPACK's table then does not store them.
  var isUnique: Bool {
    switch self {
    case .path, .identifier, .collapseID, .requestID: true
    case .pushType, .topic, .priority, .expiration, .channelID: false
    }
  }
}

/// A request to APNs: one payload for one device, or for a channel.
///
/// `@unchecked Sendable`: after it is handed over, only the sender's loop uses its mutable state.
package final class PushRequest: @unchecked Sendable {
  let token: LeaseToken
  /// The receiver; nil for a broadcast.
  package let deviceToken: String?
  /// Whether the topic is from the envelope, not from the user's settings.
  let hasOwnTopic: Bool
  let body: [UInt8]
  /// The values of the headers, one after the other.
  private(set) var values: [UInt8] = []
  private(set) var headers: [(header: PushHeader, range: Range<Int>)] = []

  /// How often it was sent but certainly not processed.
  var refusals = 0
  /// How often Apple called its token expired.
  var expiredTokens = 0
  /// The ``ProviderTokenState/number`` of the token that it was sent with.
  var tokenNumber = 0
  /// When it saw the first failure to connect since it was last sent; nil before that.
  var waitsSince: MonotonicInstant?

  /// Records that a connection took it, so that it waits for none.
  func noteSubmission() {
    waitsSince = nil
  }

  /// What the path of a request names: a device, or the app of a broadcast by its bundle identifier.
  enum Target {
    case device(String)
    case app(String)
  }

  /// Creates a request to a validated target.
  init(_ token: LeaseToken, to target: Target, hasOwnTopic: Bool, body: [UInt8]) {
    (self.token, self.hasOwnTopic, self.body) = (token, hasOwnTopic, body)
    let path: String
    switch target {
    case .device(let token): (deviceToken, path) = (token, "/3/device/\(token)")
    case .app(let bundle): (deviceToken, path) = (nil, "/4/broadcasts/apps/\(bundle)")
    }
    values.reserveCapacity(256)
    add(.path, path)
  }

  /// The header that identifies the request, `apns-id` or `apns-request-id`.
  package var identifier: (name: String, value: String)? {
    headers.first { [.identifier, .requestID].contains($0.header) }.map {
      ($0.header.name.description, String(decoding: values[$0.range], as: UTF8.self))
    }
  }

  /// Adds a header with a validated value.
  func add(_ header: PushHeader, _ value: String) {
    let start = values.count
    values += value.utf8
    headers.append((header, start..<values.count))
  }

  /// Returns the value of a header; nil when the request does not have it.
  package func value(of name: String) -> String? {
    headers.first { $0.header.name.description == name }.map { String(decoding: values[$0.range], as: UTF8.self) }
  }
}
