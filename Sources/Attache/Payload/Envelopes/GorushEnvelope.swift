/// gorush's notifications for Apple's devices (`platform` 1), one alone or several in a request.
/// gorush builds each payload from the members of the notification.
///
/// Source: https://github.com/appleboy/gorush/blob/master/notify/notification_apns.go
/// (`buildIOSPayload`): `data` becomes custom keys.
enum GorushEnvelope {
  /// The maximum number of notifications in a request, including those for other devices. This is
  /// gorush's own limit.
  ///
  /// Source: https://github.com/appleboy/gorush/blob/master/config/config.go (`max_notification:
  /// 100`)
  static let maximumNotifications = 100

  /// Returns the notifications for Apple's devices. Returns none if one of them has no place for
  /// the member, because gorush itself rejects such a request.
  static func open(_ text: JSONText) -> [OpenedEnvelope] {
    let root = text.root
    guard let list = text.value("notifications", of: root) else {
      let isForDevices = ["tokens", "token", "to", "topic"].contains { text.value($0, of: root) != nil }
      return isForDevices && isApples(root, text) ? [open(root, of: root, text)].compactMap { $0 } : []
    }
    let notifications = text.elements(of: list)
    guard notifications.count <= maximumNotifications, notifications.allSatisfy(text.isObject) else { return [] }
    var opened: [OpenedEnvelope] = []
    for (index, notification) in notifications.enumerated() where isApples(notification, text) {
      guard var envelope = open(notification, of: root, text) else { return [] }
      if notifications.count > 1 { envelope.envelope.notification = index + 1 }
      opened.append(envelope)
    }
    return opened
  }

  private static func isApples(_ notification: Range<Int>, _ text: JSONText) -> Bool {
    text.value("platform", of: notification).map(text.source)?.elementsEqual("1".utf8) == true
  }

  private static func open(_ notification: Range<Int>, of root: Range<Int>, _ text: JSONText) -> OpenedEnvelope? {
    guard var place = PayloadPlace(dataOf: notification, in: text) else { return nil }
    let alert = text.object("alert", of: notification)
    let title = text.text(at: ["title"], of: notification)
    let message = text.text(at: ["message"], of: notification)
    // If there is a title or any text of `alert`, the alert is an object and not the message alone.
    let parts = (alert.map { text.members(of: $0) } ?? []).filter { isFilled(text.source($0.value)) }
    let isPlain = title == nil && parts.isEmpty

    var json = JSONWriter()
    json.beginObject()
    json.key("aps")
    json.beginObject()
    if isPlain {
      json.member("alert", message, of: text)
    } else {
      json.key("alert")
      json.beginObject()
      json.member("title", title, of: text)
      if title != nil { json.member("body", message, of: text) }
      for part in parts { json.member(part, of: text) }
      json.endObject()
    }
    write(notification, text, to: &json)
    json.endObject()
    for member in text.object("data", of: notification).map({ text.members(of: $0) }) ?? [] where !text.isNamed(member, "aps") {
      json.member(member, of: text)
    }
    json.endObject()

    let given = isPlain ? message.map { [MemberChange("body", Array(text.source($0)))] } ?? [] : []
    place.alert = AlertPlace(holder: notification, given: given)
    var opened = OpenedEnvelope(.gorush, payload: json.bytes, copies: json.copies, place: place, delivery: [notification, root])
    // The insertion into an empty `data` needs no comma, but the payload for APNs has one after
    // `aps`.
    if place.isEmptyObject { opened.place.payloadCount = json.bytes.count + 1 }
    return opened
  }

  private static func write(_ notification: Range<Int>, _ text: JSONText, to json: inout JSONWriter) {
    json.flag("mutable-content", text.isSet("mutable_content", of: notification))
    json.flag("content-available", text.isSet("content_available", of: notification))
    json.member("badge", text.value("badge", of: notification), of: text)
    json.member("sound", text.value("sound", of: notification) ?? text.text(at: ["name"], of: notification), of: text)
    json.member("category", text.text(at: ["category"], of: notification), of: text)
    json.member("thread-id", text.text(at: ["thread-id"], of: notification), of: text)
    json.member("interruption-level", text.text(at: ["interruption_level"], of: notification), of: text)
  }

  /// Returns whether Go sees a value other than the zero value.
  static func isFilled(_ source: ArraySlice<UInt8>) -> Bool {
    !["\"\"", "null", "0", "[]"].contains { source.elementsEqual($0.utf8) }
  }
}
