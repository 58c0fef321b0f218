/// The form in which a push service receives a payload, or data to build one, from a sender.
public struct Envelope: Hashable, Sendable {
  /// The service or option that defines the form.
  public enum Form: String, CaseIterable, Sendable {
    /// Firebase Cloud Messaging: `message.apns.payload`.
    ///
    /// Source: https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages
    case fcm = "fcm-v1"
    /// A request to Firebase's legacy HTTP API, which is not opened.
    ///
    /// Source: https://firebase.google.com/docs/cloud-messaging/migrate-v1
    case fcmLegacy = "fcm-legacy"
    /// Amazon SNS: `APNS`, the payload as JSON in a string.
    ///
    /// Source:
    /// https://docs.aws.amazon.com/sns/latest/dg/sns-send-custom-platform-specific-payloads-mobile-devices.html
    case sns
    /// A request to gorush, or one of its notifications.
    ///
    /// Source: https://github.com/appleboy/gorush/blob/master/notify/notification.go
    case gorush
    /// A request to OneSignal's server.
    ///
    /// Source: https://documentation.onesignal.com/reference/push-channel-properties
    case oneSignal = "onesignal"
    /// A request to Expo's server, or one of its messages.
    ///
    /// Source:
    /// https://docs.expo.dev/push-notifications/sending-notifications/#message-request-format
    case expo
    /// The user's own form, given by `--payload-path`.
    case path = "payload-path"
  }

  /// The form of the envelope.
  public var form: Form
  /// The number of the notification in a request of several, counted from 1; nil for a single one.
  public var notification: Int?
  /// The device token, or the envelope's equivalent; nil if there is none or there are several.
  public var token: UntrustedText?
  /// `apns-priority`, or the number for the service's own word: 10 sends immediately, 5 at a time
  /// that suits the device.
  public var priority: Int?
  /// The time when APNs stops trying to deliver, in seconds since 1970.
  public var expiration: Int?
  /// `apns-push-type`.
  public var pushType: UntrustedText?
  /// `apns-topic`, or gorush's `topic`: the app's bundle identifier, with a suffix for some of
  /// Apple's services.
  public var topic: UntrustedText?
  /// `apns-collapse-id`, or the service's own name for it.
  public var collapseID: UntrustedText?
  /// The time when the notification was sent or is to be sent, in seconds since 1970.
  public var time: Double?

  /// Creates an envelope of this form without delivery information.
  public init(_ form: Form) {
    self.form = form
  }

  /// Returns the values that this envelope and another share. Values that differ are nil.
  func common(with other: Envelope) -> Envelope {
    var common = Envelope(form)
    common.token = token == other.token ? token : nil
    common.priority = priority == other.priority ? priority : nil
    common.expiration = expiration == other.expiration ? expiration : nil
    common.pushType = pushType == other.pushType ? pushType : nil
    common.topic = topic == other.topic ? topic : nil
    common.collapseID = collapseID == other.collapseID ? collapseID : nil
    common.time = time == other.time ? time : nil
    return common
  }

  /// The name that `inspect` shows.
  public var name: String { form.rawValue }
}

extension Envelope.Form {
  /// The number of bytes that stay free for what the service's server adds to the payload. FCM adds
  /// `gcm.message_id`, `google.c.fid` and others, about 150 bytes; OneSignal and Expo their own
  /// identifiers.
  package var addedBytes: Int {
    switch self {
    case .fcm, .fcmLegacy, .oneSignal, .expo: 256
    case .sns, .gorush, .path: 0
    }
  }
}
