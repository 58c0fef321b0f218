/// Amazon SNS's message with one payload per platform. Each payload is JSON in a string. The whole
/// may again be a string, in `Message`.
///
/// The payload is that of the first name in ``names``. The payload of its sandbox receives the same
/// changes if it is identical byte for byte. A different sandbox payload, and the payloads of
/// further names, stay unchanged.
package enum SNSEnvelope {
  /// The platform names; each comes before the name of its sandbox.
  ///
  /// Source:
  /// https://docs.aws.amazon.com/sns/latest/dg/sns-send-custom-platform-specific-payloads-mobile-devices.html
  package static let names = ["APNS", "APNS_SANDBOX", "MACOS", "MACOS_SANDBOX", "APNS_VOIP", "APNS_VOIP_SANDBOX"]

  static func open(_ text: JSONText, _ inner: JSONParser) -> OpenedEnvelope? {
    guard let (messages, levels) = messages(text, inner),
      let name = names.first(where: { messages.text(at: [$0], of: messages.root) != nil }),
      let value = messages.value(name, of: messages.root), let bytes = messages.string(value),
      let payload = inner.parse(copying: bytes), payload.isObject
    else { return nil }
    var level = PayloadPlace.Level(text: messages, string: value.withoutQuotes)
    if let sandbox = messages.value(name + "_SANDBOX", of: messages.root), messages.string(sandbox) == bytes {
      level.twin = sandbox.withoutQuotes
    }
    let document = JSONText(bytes)
    var place = PayloadPlace(
      levels: levels + [level], text: document, object: document.root, isEmptyObject: document.members(of: document.root).isEmpty)
    place.leadsToVoIP = name == "APNS_VOIP" || name == "APNS_VOIP_SANDBOX"
    place.alert = AlertPlace(apsOf: document.root, in: document)
    return OpenedEnvelope(.sns, payload: Array(document.source(document.root)), place: place, delivery: [text.root])
  }

  /// Returns the object whose members are payloads, and the string that contains it.
  private static func messages(_ text: JSONText, _ inner: JSONParser) -> (JSONText, [PayloadPlace.Level])? {
    let root = text.root
    if names.contains(where: { text.text(at: [$0], of: root) != nil }) { return (text, []) }
    guard let structure = text.value("MessageStructure", of: root), text.string(structure) == Array("json".utf8),
      let message = text.value("Message", of: root), let bytes = text.string(message), inner.parse(copying: bytes)?.isObject == true
    else { return nil }
    return (JSONText(bytes), [PayloadPlace.Level(text: text, string: message.withoutQuotes)])
  }
}
