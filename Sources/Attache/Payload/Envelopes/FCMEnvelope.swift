/// Firebase Cloud Messaging's message. Its payload is `apns.payload`, with additions from the rest
/// of the message.
///
/// FCM shows `notification.title` and `.body` if `aps.alert` is absent, and sends the members of
/// `data` as custom keys. It writes the image of `apns.fcm_options.image`, otherwise of
/// `notification.image`, to `fcm_options` of the payload.
enum FCMEnvelope {
  static func open(_ text: JSONText) -> OpenedEnvelope? {
    let message = text.object("message", of: text.root) ?? text.root
    let apns = text.object("apns", of: message)
    let notification = text.object("notification", of: message)
    guard let payload = apns.flatMap({ text.object("payload", of: $0) }) else {
      // Nothing can be attached, because the message does not ask for a service extension, but
      // `inspect` can still explain it.
      let hasTarget = ["token", "topic", "condition"].contains { text.value($0, of: message) != nil }
      guard let notification, hasTarget else { return nil }
      let (made, copies, _) = fill(nil, notification, apns, message, text)
      let place = PayloadPlace(object: message)
      return OpenedEnvelope(.fcm, payload: made, copies: copies, place: place, delivery: delivery(text, apns, message))
    }
    let (made, copies, given) = fill(payload, notification, apns, message, text)
    var place = PayloadPlace(object: payload, isEmptyObject: text.members(of: payload).isEmpty)
    place.alert = AlertPlace(apsOf: payload, in: text, given: given)
    return OpenedEnvelope(.fcm, payload: made, copies: copies, place: place, delivery: delivery(text, apns, message))
  }

  private static func delivery(_ text: JSONText, _ apns: Range<Int>?, _ message: Range<Int>) -> [Range<Int>] {
    [apns.flatMap { text.object("headers", of: $0) }, message, text.root].compactMap { $0 }
  }

  /// Returns the payload as FCM sends it, what it copies from the message, and the texts that FCM
  /// adds.
  private static func fill(
    _ payload: Range<Int>?, _ notification: Range<Int>?, _ apns: Range<Int>?, _ message: Range<Int>, _ text: JSONText
  ) -> ([UInt8], copies: [JSONCopy], given: [MemberChange]) {
    let aps = payload.flatMap { text.value("aps", of: $0) }
    let image =
      apns.flatMap { text.text(at: ["fcm_options", "image"], of: $0) } ?? notification.flatMap { text.text(at: ["image"], of: $0) }
    let given = hasAlert(aps, text) ? [] : texts(notification, text)
    let own = payload.map { text.members(of: $0) } ?? []
    let names = Set(own.map { text.identity(of: $0) })
    let others = (text.object("data", of: message).map { text.members(of: $0) } ?? []).filter { member in
      !text.isNamed(member, "aps") && !names.contains(text.identity(of: member))
    }
    if let payload, image == nil, given.isEmpty, others.isEmpty { return (Array(text.source(payload)), [], []) }

    var json = JSONWriter()
    json.beginObject()
    for member in own + others {
      if text.isNamed(member, "aps"), !given.isEmpty { continue }
      if text.isNamed(member, "fcm_options"), image != nil { continue }
      json.member(member, of: text)
    }
    if !given.isEmpty { write(aps, given, text, to: &json) }
    if let image {
      json.key("fcm_options")
      json.beginObject()
      json.member("image", image, of: text)
      json.endObject()
    }
    json.endObject()
    return (json.bytes, json.copies, given)
  }

  private static func hasAlert(_ aps: Range<Int>?, _ text: JSONText) -> Bool {
    guard let alert = aps.flatMap({ text.value("alert", of: $0) }) else { return false }
    return !text.source(alert).elementsEqual("null".utf8)
  }

  private static func texts(_ notification: Range<Int>?, _ text: JSONText) -> [MemberChange] {
    ["title", "body"].compactMap { name in
      notification.flatMap { text.text(at: [name], of: $0) }.map { MemberChange(UntrustedText(name), Array(text.source($0))) }
    }
  }

  private static func write(_ aps: Range<Int>?, _ given: [MemberChange], _ text: JSONText, to json: inout JSONWriter) {
    json.key("aps")
    json.beginObject()
    for member in aps.map({ text.members(of: $0) }) ?? [] where !text.isNamed(member, "alert") { json.member(member, of: text) }
    json.key("alert")
    json.source(JSONWriter.object(given))
    json.endObject()
  }
}
