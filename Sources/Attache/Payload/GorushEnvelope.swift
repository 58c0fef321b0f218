/// gorush's notification for Apple's devices (`platform` 1), alone or as the only one of a request: what it hands on is made of its members.
///
/// Source: https://github.com/appleboy/gorush/blob/master/notify/notification_apns.go (`buildIOSPayload`): `data` becomes custom keys.
enum GorushEnvelope {
  static func open(_ text: JSONText) -> OpenedEnvelope? {
    guard let notification = notification(text), text.value("platform", of: notification).map(text.source)?.elementsEqual("1".utf8) == true,
      var place = PayloadPlace(dataOf: notification, in: text)
    else { return nil }
    let alert = text.object("alert", of: notification)
    let title = text.text(at: ["title"], of: notification)
    let message = text.text(at: ["message"], of: notification)
    // Any text of `alert`, and any title, takes the place of a message alone.
    let parts = (alert.map { text.members(of: $0) } ?? []).filter { isFilled($0.value, text) }
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

    let given = isPlain ? message.map { [(name: "body", source: Array(text.source($0)))] } ?? [] : []
    place.alert = AlertPlace(holder: notification, given: given)
    return OpenedEnvelope(.gorush, payload: json.bytes, place: place, delivery: [notification, text.root])
  }

  private static func notification(_ text: JSONText) -> Range<Int>? {
    let root = text.root
    if let list = text.value("notifications", of: root) {
      let elements = text.elements(of: list)
      return elements.count == 1 && text.isObject(elements[0]) ? elements[0] : nil
    }
    return ["tokens", "token", "to", "topic"].contains { text.value($0, of: root) != nil } ? root : nil
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

  /// Whether Go sees more than a zero value.
  private static func isFilled(_ value: Range<Int>, _ text: JSONText) -> Bool {
    !["\"\"", "null", "0", "[]"].contains { text.source(value).elementsEqual($0.utf8) }
  }
}
