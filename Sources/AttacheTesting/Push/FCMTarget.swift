internal import Attache

/// The receiver of a message to FCM.
enum FCMTarget: Hashable {
  case token(String)
  case topic(String)
  case condition(String)

  /// The token, the topic or the condition.
  var text: String {
    switch self {
    case .token(let text), .topic(let text), .condition(let text): text
    }
  }

  /// Reads the receiver in the body of a request, which may break other rules; nil when it has none.
  init?(body: [UInt8]) {
    guard let text = JSONText(parsing: body), let message = text.value("message", of: text.root),
      let target = Self.all(in: text, message).first
    else { return nil }
    self = target
  }

  /// Returns all receivers of a message. A valid message has one.
  static func all(in text: JSONText, _ message: Range<Int>) -> [FCMTarget] {
    let makers: [(name: String, make: (String) -> FCMTarget)] = [("token", token), ("topic", topic), ("condition", condition)]
    return makers.compactMap { name, make in
      text.value(name, of: message).flatMap(text.string).map { make(String(decoding: $0, as: UTF8.self)) }
    }
  }
}

extension JSONText {
  /// Parses a text; nil unless it is a JSON object without a byte order mark.
  init?(parsing bytes: [UInt8]) {
    let parser = JSONParser(capacity: max(bytes.count, 64))
    guard bytes.first != 0xEF, parser.parse(copying: bytes) != nil else { return nil }
    self.init(bytes)
    guard isObject(root) else { return nil }
  }
}
