/// A line in the form of a push service's envelope that attache does not open.
package struct UnopenedEnvelope: Hashable, Sendable {
  package let form: Envelope.Form
  /// The JSON pointer of the value in the line that prevents opening.
  package let path: UntrustedText
  /// The reason, and what to write instead: one printable sentence without a full stop.
  package let why: String
  /// Whether the line is for devices that are not Apple's, so that there is nothing to attach.
  let isForOthers: Bool

  /// The position of the message in an array of Expo's, counted from 1; nil elsewhere.
  package var notification: Int? {
    form == .expo ? Int(path.string.dropFirst().prefix { $0 != "/" }).map { $0 + 1 } : nil
  }

  private init(_ form: Envelope.Form, at path: UntrustedText, isForOthers: Bool = false, _ why: String) {
    (self.form, self.path, self.why, self.isForOthers) = (form, path, why, isForOthers)
  }

  /// Examines a line without a top-level `aps` that was not opened; nil if it is not an envelope.
  init?(of root: JSONElement) {
    guard let found = Self.fcm(root) ?? Self.sns(root) ?? Self.gorush(root) ?? Self.oneSignal(root) ?? Self.expo(root) ?? Self.legacy(root)
    else { return nil }
    self = found
  }

  private static func fcm(_ root: JSONElement) -> UnopenedEnvelope? {
    let wrapped = root.member("message").flatMap { $0.isObject ? $0 : nil }
    let (message, base) = (wrapped ?? root, UntrustedText(wrapped == nil ? "" : "/message"))
    if let payload = message.member("apns")?.member("payload"), !payload.isNull, !payload.isObject {
      return UnopenedEnvelope(
        .fcm, at: base.followed(by: "/apns/payload"),
        "apns.payload is \(payload.typeName), but FCM expects a dictionary: write the payload itself there")
    }
    guard wrapped != nil || message.member("apns")?.isObject == true else { return nil }
    return FCMEnvelope.picturePlaces.lazy.compactMap { picture(of: message, base, at: $0) }.first
  }

  /// Reports a picture, or an object that leads to one, of another type.
  private static func picture(of message: JSONElement, _ base: UntrustedText, at path: [String]) -> UnopenedEnvelope? {
    var value = message
    for (index, name) in path.enumerated() {
      guard let child = value.member(name), !child.isNull else { return nil }
      value = child
      let isPicture = index == path.count - 1
      guard isPicture ? !value.isString : !value.isObject else { continue }
      let steps = path[...index]
      return UnopenedEnvelope(
        .fcm, at: base.followed(by: UntrustedText(JSONPointer(parts: Array(steps)).description)),
        "\(steps.joined(separator: ".")) is \(value.typeName), but FCM expects \(isPicture ? "a string with a URL" : "a dictionary")")
    }
    return nil
  }

  private static func sns(_ root: JSONElement) -> UnopenedEnvelope? {
    if let name = SNSEnvelope.names.first(where: { root.member($0) != nil }), let value = root.member(name) {
      let what = value.isText ? "a string without a JSON object" : value.typeName
      return UnopenedEnvelope(
        .sns, at: UntrustedText("/" + name), "\(name) is \(what), but SNS expects the payload as JSON in a string")
    }
    guard let message = root.member("Message") else { return nil }
    guard root.member("MessageStructure")?.isText("json") == true else {
      guard unsafe message.withText({ unsafe $0.contains("\"APNS".utf8) }) == true else { return nil }
      return UnopenedEnvelope(
        .sns, at: "/MessageStructure", #"SNS reads APNS in Message only beside "MessageStructure": "json": write that into the request"#)
    }
    return UnopenedEnvelope(
      .sns, at: "/Message",
      "Message contains no payload for APNs: write a string with a JSON object in which APNS is the payload, as a string"
    )
  }

  private static func gorush(_ root: JSONElement) -> UnopenedEnvelope? {
    guard let list = root.member("notifications"), list.isArray else {
      guard root.member("platform")?.number != nil, isForDevices(root) else { return nil }
      return gorush([root]) { _ in "" }
    }
    var notifications: [JSONElement] = []
    list.forEachElement { notifications.append($0) }
    guard notifications.contains(where: { $0.isObject && (isForDevices($0) || $0.member("platform") != nil) }) else { return nil }
    return gorush(notifications) { "/notifications/\($0)" }
  }

  private static func gorush(_ notifications: [JSONElement], at place: (Int) -> UntrustedText) -> UnopenedEnvelope? {
    guard notifications.count <= GorushEnvelope.maximumNotifications else {
      return UnopenedEnvelope(
        .gorush, at: "/notifications",
        "the request has \(notifications.count) notifications, but gorush accepts \(GorushEnvelope.maximumNotifications): "
          + "write the others in another request")
    }
    if let index = notifications.firstIndex(where: { !$0.isObject }) {
      return UnopenedEnvelope(
        .gorush, at: place(index),
        "\(place(index).string) is \(notifications[index].typeName), but gorush accepts only dictionaries: remove it")
    }
    let apples = notifications.indices.filter { notifications[$0].member("platform")?.number == 1 }
    guard !apples.isEmpty else { return platform(of: notifications, at: place) }
    for index in apples {
      if let envelope = shut(.gorush, byDataOf: notifications[index], place(index)) { return envelope }
    }
    return nil
  }

  /// Reports that none of the notifications is for Apple's devices. gorush's numbers for other
  /// devices are 2 and 3.
  private static func platform(of notifications: [JSONElement], at place: (Int) -> UntrustedText) -> UnopenedEnvelope? {
    let platforms = notifications.map { $0.member("platform") }
    let isForOthers = platforms.allSatisfy { $0?.number == 2 || $0?.number == 3 }
    return platforms.first.map { platform in
      let what = platform.map { "is \($0.typeName)" } ?? "is missing"
      return UnopenedEnvelope(
        .gorush, at: platform == nil ? place(0) : place(0).appending("platform"), isForOthers: isForOthers,
        "platform \(what), but Apple's is the number 1: remove notifications for other devices")
    }
  }

  private static func isForDevices(_ notification: JSONElement) -> Bool {
    ["tokens", "token", "to", "topic"].contains { notification.member($0) != nil }
  }

  private static func oneSignal(_ root: JSONElement) -> UnopenedEnvelope? {
    let parts = ["contents", "headings", "ios_attachments", "content_available", "template_id"]
    guard root.member("app_id")?.isText == true, parts.contains(where: { root.member($0) != nil }) else { return nil }
    if let attachments = root.member("ios_attachments"), !attachments.isNull, !attachments.isObject {
      return UnopenedEnvelope(
        .oneSignal, at: "/ios_attachments",
        #"ios_attachments is \#(attachments.typeName), but OneSignal expects a dictionary: write "ios_attachments": {"id": "https://…"}"#)
    }
    return shut(.oneSignal, byDataOf: root)
  }

  private static func expo(_ root: JSONElement) -> UnopenedEnvelope? {
    guard root.isArray else { return root.isForExpo ? shut(.expo, byDataOf: root) : nil }
    var messages: [JSONElement] = []
    root.forEachElement { messages.append($0) }
    guard messages.count <= ExpoEnvelope.maximumMessages else {
      return UnopenedEnvelope(
        .expo, at: "",
        "the request has \(messages.count) messages, but Expo accepts \(ExpoEnvelope.maximumMessages): write the others in another request")
    }
    if let index = messages.firstIndex(where: { !$0.isForExpo }) {
      return UnopenedEnvelope(
        .expo, at: "/\(index)",
        "the message at /\(index) is not one of Expo's, whose token, in the member to, begins with ExponentPushToken[: correct or remove it"
      )
    }
    return messages.indices.lazy.compactMap { shut(.expo, byDataOf: messages[$0], "/\($0)") }.first
  }

  /// Recognizes a request to the API that came before FCM v1.
  private static func legacy(_ root: JSONElement) -> UnopenedEnvelope? {
    let isLegacy =
      root.member("registration_ids")?.isArray == true || root.member("to")?.isText == true && root.member("notification")?.isObject == true
    guard isLegacy else { return nil }
    return UnopenedEnvelope(
      .fcmLegacy, at: root.member("registration_ids") == nil ? "/to" : "/registration_ids",
      "this is a request to FCM's legacy API, which Google has shut down: write a message of FCM v1, in which message.token names the device and apns.payload is the payload"
    )
  }

  /// Reports a `data` that is not a dictionary, because the attachments go into it.
  private static func shut(_ form: Envelope.Form, byDataOf message: JSONElement, _ base: UntrustedText = "") -> UnopenedEnvelope? {
    guard let data = message.member("data"), !data.isObject else { return nil }
    let place = base.appending("data")
    return UnopenedEnvelope(
      form, at: place,
      "\(base.isEmpty ? "data" : place.string) is \(data.typeName), but attachments need a dictionary there: make it one, or remove it"
    )
  }
}

extension JSONElement {
  /// Whether this is an array in which one of the first hundred elements is one of Expo's messages.
  var isListOfExpo: Bool {
    guard isArray else { return false }
    var (count, isFound) = (0, false)
    _ = unsafe forEachChild { _, child in
      count += 1
      isFound = child.isForExpo
      return !isFound && count < ExpoEnvelope.maximumMessages
    }
    return isFound
  }

  /// Whether this is a message for one or several of Expo's devices.
  fileprivate var isForExpo: Bool {
    var token = member("to")
    if token?.isArray == true { token = token?.value(at: JSONPointer("0").tokens) }
    return token?.starts(with: "ExponentPushToken[") == true || token?.starts(with: "ExpoPushToken[") == true
  }
}
