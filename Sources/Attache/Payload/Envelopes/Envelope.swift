/// What a push service takes from a sender with a payload, or in its place.
public struct Envelope: Hashable, Sendable {
  /// Whose form it has.
  public enum Form: String, CaseIterable, Sendable {
    /// Firebase Cloud Messaging: `message.apns.payload`.
    ///
    /// Source: https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages
    case fcm = "fcm-v1"
    /// Amazon SNS: `APNS`, the payload as JSON in a string.
    ///
    /// Source:
    /// https://docs.aws.amazon.com/sns/latest/dg/sns-send-custom-platform-specific-payloads-mobile-devices.html
    case sns
    /// gorush's request, or one of its notifications.
    ///
    /// Source: https://github.com/appleboy/gorush/blob/master/notify/notification.go
    case gorush
    /// What OneSignal's server takes.
    ///
    /// Source: https://documentation.onesignal.com/reference/push-channel-properties
    case oneSignal = "onesignal"
    /// What Expo's server takes.
    ///
    /// Source:
    /// https://docs.expo.dev/push-notifications/sending-notifications/#message-request-format
    case expo
    /// The user's own, by `--payload-path`.
    case path = "payload-path"
  }

  public var form: Form
  /// Which notification of a request of several it is, counted from 1; nil for the only one.
  public var notification: Int?
  /// The device, or whatever the envelope names in its place; nil when it names none or several.
  public var token: UntrustedText?
  /// `apns-priority`, or what the service makes of its own word: 10 is at once, 5 is when it suits
  /// the device.
  public var priority: Int?
  /// When APNs gives up, in seconds since 1970.
  public var expiration: Int?
  /// `apns-push-type`.
  public var pushType: UntrustedText?
  /// `apns-topic`, or gorush's `topic`: the app's bundle identifier, with what Apple's services add
  /// to it.
  public var topic: UntrustedText?
  /// `apns-collapse-id`, or what the service calls it.
  public var collapseID: UntrustedText?
  /// When it was sent or is to be sent, in seconds since 1970.
  public var time: Double?

  public init(_ form: Form) {
    self.form = form
  }

  /// What this one and another say alike; what they say differently is nil.
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
