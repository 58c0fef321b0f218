/// Firebase Cloud Messaging's message. Its payload is `apns.payload`, with additions from the rest
/// of the message.
///
/// FCM shows `notification.title` and `.body` if `aps.alert` is absent, and sends the members of
/// `data` as custom keys. It writes the image of `apns.fcm_options.image`, otherwise of
/// `notification.image`, to `fcm_options` of the payload.
///
/// The message is proto3 JSON: `fcm_options` may also be written `fcmOptions`. The literal maps in
/// it, such as `apns.payload` and `data`, have the names that a phone reads.
///
/// Source: https://protobuf.dev/programming-guides/json (“parsers accept both”)
enum FCMEnvelope {
  /// The two names of the options.
  private static let optionNames = ["fcm_options", "fcmOptions"]
  /// The paths of a message's pictures.
  ///
  /// Source: https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages
  static let picturePlaces =
    ([["notification"], ["android", "notification"], ["webpush", "notification"]] + optionNames.map { ["apns", $0] })
    .map { $0 + ["image"] }

  static func open(_ text: JSONText) -> OpenedEnvelope? {
    let wrapped = text.object("message", of: text.root)
    let message = wrapped ?? text.root
    let apns = text.object("apns", of: message)
    let notification = text.object("notification", of: message)
    let payload = apns.flatMap { text.object("payload", of: $0) }
    guard let pictures = pictures(of: message, at: wrapped == nil ? "" : "/message", text) else { return nil }
    if payload == nil {
      // Without a payload the message does not ask for a service extension, but it may have a picture
      // for other devices, and `inspect` can explain it.
      let hasTarget = wrapped != nil || ["token", "topic", "condition"].contains { text.value($0, of: message) != nil }
      guard hasTarget, notification != nil || !pictures.isEmpty else { return nil }
    }
    let (made, copies, given) = fill(payload, notification, apns, message, text)
    var place = PayloadPlace(object: payload ?? message)
    place.pictures = pictures
    if let payload {
      place.isEmptyObject = text.members(of: payload).isEmpty
      place.alert = AlertPlace(apsOf: payload, in: text, given: given)
    } else {
      place.takesMember = false
    }
    return OpenedEnvelope(.fcm, payload: made, copies: copies, place: place, delivery: delivery(text, apns, message))
  }

  /// Returns the pictures that the message names for all kinds of devices; nil if FCM refuses the
  /// message, because one of them, or an object that leads to it, has another type.
  private static func pictures(of message: Range<Int>, at base: String, _ text: JSONText) -> [MessagePicture]? {
    var pictures: [MessagePicture] = []
    for path in picturePlaces {
      var value: Range<Int>? = message
      for name in path {
        guard let object = value, text.isObject(object) else { return nil }
        value = text.value(name, of: object).flatMap { text.isNull($0) ? nil : $0 }
        if value == nil { break }
      }
      guard let value else { continue }
      guard let url = text.string(value).map({ UntrustedText(decoding: $0).asURL }) else { return nil }
      guard !url.isEmpty else { continue }
      let pointer = UntrustedText(base + JSONPointer(parts: path).description)
      pictures.append(MessagePicture(value: value, url: url, path: pointer))
    }
    return pictures
  }

  /// Returns the image of the options; if both names are written, that of the last.
  private static func image(of apns: Range<Int>, _ text: JSONText) -> Range<Int>? {
    optionNames.compactMap { text.text(at: [$0, "image"], of: apns) }.max { $0.lowerBound < $1.lowerBound }
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
      apns.flatMap { self.image(of: $0, text) } ?? notification.flatMap { text.text(at: ["image"], of: $0) }
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
    aps.flatMap { text.value("alert", of: $0) }.map { !text.isNull($0) } ?? false
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
