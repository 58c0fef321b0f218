/// A line that has the form of a push service's envelope and that attache does not open.
struct UnopenedEnvelope {
  let form: Envelope.Form
  /// What keeps it shut: its place in the line, as a JSON pointer.
  let path: UntrustedText
  /// Why, and what to write instead, in one sentence without a full stop, printable.
  let why: String

  private init(_ form: Envelope.Form, at path: UntrustedText, _ why: String) {
    (self.form, self.path, self.why) = (form, path, why)
  }

  /// Looks at a line that has no `aps` at its top and that was not opened.
  init?(of root: JSONElement) {
    guard let found = Self.fcm(root) ?? Self.sns(root) ?? Self.gorush(root) ?? Self.oneSignal(root) ?? Self.expo(root) else { return nil }
    self = found
  }

  private static func fcm(_ root: JSONElement) -> UnopenedEnvelope? {
    let message = root.member("message").flatMap { $0.isObject ? $0 : nil }
    guard let payload = (message ?? root).member("apns")?.member("payload"), !payload.isNull, !payload.isObject else { return nil }
    return UnopenedEnvelope(
      .fcm, at: message == nil ? "/apns/payload" : "/message/apns/payload",
      "apns.payload is \(payload.typeName), and FCM takes a dictionary: write the payload itself there")
  }

  private static func sns(_ root: JSONElement) -> UnopenedEnvelope? {
    if let name = SNSEnvelope.names.first(where: { root.member($0) != nil }), let value = root.member(name) {
      let what = value.isText ? "a string that holds no JSON object" : value.typeName
      return UnopenedEnvelope(
        .sns, at: UntrustedText("/" + name), "\(name) is \(what), and SNS takes the payload as JSON in a string: write it so")
    }
    guard root.member("MessageStructure")?.isText("json") == true, root.member("Message") != nil else { return nil }
    return UnopenedEnvelope(
      .sns, at: "/Message", "Message holds no payload for APNs: write a string with a JSON object in which APNS is the payload, as a string"
    )
  }

  private static func gorush(_ root: JSONElement) -> UnopenedEnvelope? {
    var (notification, base) = (root, UntrustedText(""))
    if let list = root.member("notifications"), list.isArray {
      var notifications: [JSONElement] = []
      list.forEachElement { notifications.append($0) }
      guard let first = notifications.first, isForDevices(first) || first.member("platform") != nil else { return nil }
      if notifications.count > 1 {
        let count = "the request has \(notifications.count) notifications"
        return UnopenedEnvelope(.gorush, at: "/notifications", "\(count), and a line holds one: write each on a line of its own")
      }
      (notification, base) = (first, "/notifications/0")
    } else if root.member("platform")?.number == nil || !isForDevices(root) {
      return nil
    }
    let platform = notification.member("platform")
    if platform?.number != 1 {
      let what = platform.map { "is \($0.typeName)" } ?? "is missing"
      return UnopenedEnvelope(
        .gorush, at: platform == nil ? base : base.appending("platform"),
        "platform \(what), and Apple's is the number 1: leave out what goes to other devices")
    }
    return shut(.gorush, byDataOf: notification, base)
  }

  private static func isForDevices(_ notification: JSONElement) -> Bool {
    ["tokens", "token", "to", "topic"].contains { notification.member($0) != nil }
  }

  private static func oneSignal(_ root: JSONElement) -> UnopenedEnvelope? {
    let parts = ["contents", "headings", "ios_attachments", "content_available", "template_id"]
    guard root.member("app_id")?.isText == true, parts.contains(where: { root.member($0) != nil }) else { return nil }
    return shut(.oneSignal, byDataOf: root)
  }

  private static func expo(_ root: JSONElement) -> UnopenedEnvelope? {
    var token = root.member("to")
    if token?.isArray == true { token = root.value(at: JSONPointer("to", "0").tokens) }
    guard token?.starts(with: "ExponentPushToken[") == true || token?.starts(with: "ExpoPushToken[") == true else { return nil }
    return shut(.expo, byDataOf: root)
  }

  /// The attachments would go into `data`, where only a dictionary takes them.
  private static func shut(_ form: Envelope.Form, byDataOf message: JSONElement, _ base: UntrustedText = "") -> UnopenedEnvelope? {
    guard let data = message.member("data"), !data.isObject else { return nil }
    return UnopenedEnvelope(
      form, at: base.appending("data"), "data is \(data.typeName), and attachments go into a dictionary there: make it one, or leave it out"
    )
  }
}

extension Envelope.Form {
  /// Where the form is documented.
  var source: String {
    switch self {
    case .fcm: "https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages"
    case .sns: "https://docs.aws.amazon.com/sns/latest/dg/sns-send-custom-platform-specific-payloads-mobile-devices.html"
    case .gorush: "https://github.com/appleboy/gorush/blob/master/notify/notification.go"
    case .oneSignal: "https://documentation.onesignal.com/reference/push-channel-properties"
    case .expo: "https://docs.expo.dev/push-notifications/sending-notifications/#message-request-format"
    case .path: FindingCode.envelopeUnopened.source
    }
  }
}
