/// Expo's message. Its server sends `data` as `body`, with `richContent` in it as `_richContent`.
///
/// Source: https://docs.expo.dev/push-notifications/sending-notifications/#message-request-format
enum ExpoEnvelope {
  static func open(_ text: JSONText) -> OpenedEnvelope? {
    let root = text.root
    guard isExpo(text), var place = PayloadPlace(dataOf: root, in: text) else { return nil }
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
    json.member("_richContent", text.object("richContent", of: root), of: text)
    json.endObject()
    json.endObject()
    return OpenedEnvelope(.expo, payload: json.bytes, copies: json.copies, place: place, delivery: [root])
  }

  /// Returns whether the line is for one or several of Expo's devices.
  private static func isExpo(_ text: JSONText) -> Bool {
    guard let to = text.value("to", of: text.root) else { return false }
    guard let token = text.string(text.elements(of: to).first ?? to) else { return false }
    return token.starts(with: "ExponentPushToken[".utf8) || token.starts(with: "ExpoPushToken[".utf8)
  }
}
