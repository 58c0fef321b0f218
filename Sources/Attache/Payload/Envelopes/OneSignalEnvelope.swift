/// OneSignal's request. Its server always asks for the service extension. It sends
/// `ios_attachments` as `att` and `data` as `custom.a`.
///
/// The texts are given by language: English is used, otherwise the first. Overrides do not apply to
/// them.
///
/// Source: https://documentation.onesignal.com/reference/push-channel-properties
enum OneSignalEnvelope {
  static func open(_ text: JSONText) -> OpenedEnvelope? {
    let root = text.root
    let parts = ["contents", "headings", "ios_attachments", "content_available", "template_id"]
    guard text.text(at: ["app_id"], of: root) != nil, parts.contains(where: { text.value($0, of: root) != nil }),
      text.value("ios_attachments", of: root).map({ text.isObject($0) || text.isNull($0) }) ?? true,
      let place = PayloadPlace(dataOf: root, in: text)
    else { return nil }
    let data = text.object("data", of: root)

    var json = JSONWriter()
    json.beginObject()
    json.key("aps")
    json.beginObject()
    let texts = [("title", "headings"), ("subtitle", "subtitle"), ("body", "contents")].compactMap { name, member in
      text.object(member, of: root).flatMap { words($0, text) }.map { (name, $0) }
    }
    if !texts.isEmpty {
      json.key("alert")
      json.beginObject()
      for (name, words) in texts { json.member(name, words, of: text) }
      json.endObject()
    }
    json.flag("mutable-content", true)
    json.flag("content-available", text.isSet("content_available", of: root))
    json.member("badge", text.value("ios_badgeCount", of: root), of: text)
    json.member("sound", text.value("ios_sound", of: root), of: text)
    json.member("category", text.text(at: ["ios_category"], of: root), of: text)
    json.member("thread-id", text.text(at: ["thread_id"], of: root), of: text)
    json.member("interruption-level", text.text(at: ["ios_interruption_level"], of: root), of: text)
    json.endObject()
    json.key("custom")
    json.beginObject()
    json.key("i")
    json.string("00000000-0000-0000-0000-000000000000")  // as long as the identifier that the server gives
    json.member("a", data, of: text)
    json.endObject()
    json.member("att", text.object("ios_attachments", of: root), of: text)
    json.endObject()
    return OpenedEnvelope(.oneSignal, payload: json.bytes, copies: json.copies, place: place, delivery: [root])
  }

  private static func words(_ languages: Range<Int>, _ text: JSONText) -> Range<Int>? {
    text.text(at: ["en"], of: languages) ?? text.members(of: languages).first { text.isText($0.value) }?.value
  }
}
