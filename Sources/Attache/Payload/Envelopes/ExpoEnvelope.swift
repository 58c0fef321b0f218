/// Expo's message, or its request: an array of messages. Its server sends `data` as `body`, with
/// `richContent` in it as `_richContent`.
///
/// Source: https://docs.expo.dev/push-notifications/sending-notifications/#message-request-format
enum ExpoEnvelope {
  /// The maximum number of messages in a request.
  ///
  /// Source: https://docs.expo.dev/push-notifications/sending-notifications/#request-errors
  /// (PUSH_TOO_MANY_NOTIFICATIONS)
  static let maximumMessages = 100

  /// Returns the messages that have a place for the member.
  static func open(_ text: JSONText) -> [OpenedEnvelope] {
    guard text.isArray(text.root) else { return [open(text.root, text)].compactMap { $0 } }
    let messages = text.elements(of: text.root)
    guard messages.count <= maximumMessages else { return [] }
    return messages.enumerated().compactMap { index, message in
      var opened = open(message, text)
      if messages.count > 1 { opened?.envelope.notification = index + 1 }
      return opened
    }
  }

  private static func open(_ root: Range<Int>, _ text: JSONText) -> OpenedEnvelope? {
    guard isExpo(root, text), var place = PayloadPlace(dataOf: root, in: text) else { return nil }
    let data = text.object("data", of: root)
    place.alert = AlertPlace(holder: root, name: nil)

    var json = JSONWriter()
    json.beginObject()
    json.key("aps")
    json.beginObject()
    let texts = ["title", "subtitle", "body"].compactMap { name in text.text(at: [name], of: root).map { (name, $0) } }
    if !texts.isEmpty {
      json.key("alert")
      json.beginObject()
      for (name, words) in texts { json.member(name, words, of: text) }
      json.endObject()
    }
    json.flag("mutable-content", text.isSet("mutableContent", of: root))
    json.flag("content-available", text.isSet("_contentAvailable", of: root))
    json.member("badge", text.value("badge", of: root), of: text)
    json.member("sound", text.value("sound", of: root), of: text)
    json.member("category", text.text(at: ["categoryId"], of: root), of: text)
    json.member("interruption-level", text.text(at: ["interruptionLevel"], of: root), of: text)
    json.endObject()
    json.key("body")
    json.beginObject()
    for member in data.map({ text.members(of: $0) }) ?? [] { json.member(member, of: text) }
    // Of another kind too, so that the payload shows that its sender wanted a picture.
    json.member("_richContent", text.value("richContent", of: root).flatMap { text.isNull($0) ? nil : $0 }, of: text)
    json.endObject()
    json.endObject()
    return OpenedEnvelope(.expo, payload: json.bytes, copies: json.copies, place: place, delivery: [root])
  }

  /// Returns whether a message is for one or several of Expo's devices.
  private static func isExpo(_ message: Range<Int>, _ text: JSONText) -> Bool {
    guard let to = text.value("to", of: message) else { return false }
    guard let token = text.string(text.elements(of: to).first ?? to) else { return false }
    return token.starts(with: "ExponentPushToken[".utf8) || token.starts(with: "ExpoPushToken[".utf8)
  }
}
