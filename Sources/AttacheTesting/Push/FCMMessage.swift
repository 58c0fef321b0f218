internal import Attache

/// The body of a request to FCM, with Google's rules for it.
///
/// Sources: https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages/send,
/// https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages
struct FCMMessage {
  private let text: JSONText

  /// The greatest size of notification and data, and of an APNs payload, in bytes
  /// (https://firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode).
  private static let maximumBytes = 4_096
  /// The smallest size of a registration token, in bytes. Google documents none; real ones have more
  /// than 100.
  private static let minimumTokenBytes = 20
  /// The names of a message's members, as they are declared and as JSON has them.
  private static let names: Set<String> = [
    "name", "data", "notification", "android", "webpush", "apns", "fcm_options", "fcmOptions", "token", "topic", "condition",
  ]
  private static let strings = ["name", "token", "topic", "condition"]
  private static let objects = ["data", "notification", "android", "webpush", "apns", "fcm_options", "fcmOptions"]

  /// - Throws: ``PushRefusal`` when the body is not a JSON object.
  init(_ body: [UInt8]) throws(PushRefusal) {
    guard let text = JSONText(parsing: body) else {
      throw PushRefusal(400, nil, message: "Invalid JSON payload received. Unexpected token.")
    }
    self.text = text
  }

  /// Checks the message.
  ///
  /// - Throws: ``PushRefusal`` for the first rule that it breaks.
  func check() throws(PushRefusal) {
    try checkNames(of: text.root, ["message", "validate_only", "validateOnly"], at: "")
    for name in ["validate_only", "validateOnly"] {
      guard let value = value(name, of: text.root) else { continue }
      guard "tf".utf8.contains(text.bytes[value.lowerBound]) else { throw invalid(name, "TYPE_BOOL", value) }
    }
    guard let message = value("message", of: text.root) else { throw recipientIsMissing }
    try checkObject(message, at: "message")
    try checkNames(of: message, Self.names, at: "message")
    for name in Self.strings {
      guard let value = value(name, of: message), text.string(value) == nil else { continue }
      throw invalid("message.\(name)", "TYPE_STRING", value)
    }
    for name in Self.objects {
      if let value = value(name, of: message) { try checkObject(value, at: "message.\(name)") }
    }
    try checkTarget(of: message)
    try checkContent(of: message)
  }

  private func checkTarget(of message: Range<Int>) throws(PushRefusal) {
    let targets = FCMTarget.all(in: text, message)
    guard let target = targets.first, !target.text.isEmpty else { throw recipientIsMissing }
    guard targets.count == 1 else { throw fcmError("Only one of token, topic and condition can be set.", field: "message") }
    switch target {
    case .token(let token):
      guard token.utf8.count >= Self.minimumTokenBytes, token.utf8.allSatisfy({ Self.isWord($0) || $0 == UInt8(ascii: ":") }) else {
        throw fcmError(
          "The registration token is not a valid FCM registration token", field: "message.token", "Invalid registration token")
      }
    case .topic(let topic):
      guard topic.utf8.allSatisfy({ Self.isWord($0) || ".~%".utf8.contains($0) }) else {
        throw fcmError("Invalid topic name", field: "message.topic")
      }
    case .condition: break
    }
  }

  private func checkContent(of message: Range<Int>) throws(PushRefusal) {
    var size = 0
    if let data = value("data", of: message) {
      for (index, member) in text.members(of: data).enumerated() {
        guard let value = text.string(member.value) else { throw invalid("message.data[\(index)].value", "TYPE_STRING", member.value) }
        let key = String(decoding: text.string(member.name) ?? [], as: UTF8.self)
        guard !Self.isReserved(key) else { throw fcmError("Invalid data payload key: \(key)", field: "message.data") }
        size += key.utf8.count + value.count
      }
    }
    if let notification = value("notification", of: message) {
      try checkNames(of: notification, ["title", "body", "image"], at: "message.notification")
      for member in text.members(of: notification) { size += member.name.count + (text.string(member.value)?.count ?? 0) }
    }
    guard size <= Self.maximumBytes else { throw fcmError("Message too big", field: "message") }
    guard let apns = value("apns", of: message), let payload = value("payload", of: apns) else { return }
    try checkObject(payload, at: "message.apns.payload")
    guard JSONText(Array(text.bytes[payload])).compact.count <= Self.maximumBytes else {
      throw fcmError("APNs payload too big", field: "message.apns.payload")
    }
  }

  /// Returns a member that is not null. In Google's JSON, null is a member that is missing.
  private func value(_ name: String, of object: Range<Int>) -> Range<Int>? {
    text.value(name, of: object).flatMap { text.bytes[$0.lowerBound] == UInt8(ascii: "n") ? nil : $0 }
  }

  private func checkNames(of object: Range<Int>, _ known: Set<String>, at path: String) throws(PushRefusal) {
    for member in text.members(of: object) {
      let name = String(decoding: text.string(member.name) ?? [], as: UTF8.self)
      guard !known.contains(name) else { continue }
      let place = path.isEmpty ? "" : " at '\(path)'"
      let message = "Invalid JSON payload received. Unknown name \"\(name)\"\(place): Cannot find field."
      throw PushRefusal(400, nil, message: message, detail: .field(path, description: message))
    }
  }

  private func checkObject(_ value: Range<Int>, at path: String) throws(PushRefusal) {
    guard !text.isObject(value) else { return }
    throw invalid(path, "TYPE_MESSAGE", value)
  }

  private func invalid(_ path: String, _ type: String, _ value: Range<Int>) -> PushRefusal {
    let message = "Invalid value at '\(path)' (\(type)), \(String(decoding: text.bytes[value].prefix(100), as: UTF8.self))"
    return PushRefusal(400, nil, message: message, detail: .field(path, description: message))
  }

  private var recipientIsMissing: PushRefusal { fcmError("Recipient of the message is not set.", field: "message.token") }

  private func fcmError(_ message: String, field: String, _ description: String? = nil) -> PushRefusal {
    PushRefusal(400, "INVALID_ARGUMENT", message: message, detail: .field(field, description: description ?? message))
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    byte.isLetterASCII || byte.decimalDigit != nil || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
  }

  /// Returns whether Google reserves a key of `data` for itself.
  private static func isReserved(_ key: String) -> Bool {
    key == "from" || key == "message_type" || key.hasPrefix("google.") || key.hasPrefix("gcm.notification.")
  }
}
