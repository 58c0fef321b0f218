/// What is known about a line beside its reason: what is wrong with it, and where. It is indirect,
/// because each decision has room for a cause, and few decisions have one.
package indirect enum LineCause: Hashable, Sendable {
  /// The line is not a JSON object.
  case json(JSONMistake)
  /// The line is an envelope that cannot be opened.
  case envelope(UnopenedEnvelope)
  /// Nothing reads a string that looks like a media URL.
  case unread(UnreadMedia)
  /// The line is blank.
  case blank
  /// `--payload-path` leads to no object.
  case noPayload(JSONPointer)
  /// The payload is an object in the line.
  case nested(JSONPointer)
  /// A message of FCM with data alone.
  case dataMessage
  /// An object without `aps` that is no request of a service either.
  case foreign
  /// A push for a Live Activity.
  case liveActivity
  /// A service's request without the texts of an alert.
  case noAlert(Envelope.Form)
  /// The flag that asks for a service extension is missing in a service's request.
  case noFlag(Envelope.Form)
  /// The flag has another name or another value than Apple's; with what is wrong.
  case wrongFlag(FlagMistake)
  /// With its attachments a payload would be larger than it may be.
  case tooLarge(PayloadExcess)

  /// What is wrong, and what to do: one printable sentence without a full stop.
  package var text: String {
    switch self {
    case .json(let mistake): mistake.text
    case .envelope(let envelope): envelope.why
    case .unread(let media): media.text
    case .blank: "the line is blank"
    case .noPayload(let path):
      "--payload-path \(PrintableText.of(path.description, maximumLength: 200)) leads to no object in the line; attache inspect shows the line"
    case .nested(let place):
      "the line has no aps, but the object at \(PrintableText.of(place.description, maximumLength: 200)) has one; "
        + "--payload-path with that place reads it"
    case .dataMessage: Self.textOfDataMessage
    case .foreign: Self.textOfForeignObject
    case .liveActivity:
      "this is a push for a Live Activity (event, content-state), for which no service extension runs; put pictures into the app, or send an alert of its own"
    case .noAlert(let form): form.requestWithoutAlert
    case .noFlag(let form): "the request does not ask for a service extension; \(form.flag) if it should show media"
    case .wrongFlag(let mistake): mistake.text
    case .tooLarge(let excess): excess.text
    }
  }

  private static let textOfDataMessage =
    "this is a data-only message of FCM, for which Apple's devices show nothing and run no service extension; add notification with a title and a body, "
    + "\"apns\": {\"payload\": {\"aps\": {\"mutable-content\": 1}}}, and the picture's URL as notification.image"
  private static let textOfForeignObject =
    "the object has no aps and is no request that attache reads; these are payloads of APNs, and requests of FCM v1 (message), Amazon SNS (APNS), "
    + "gorush (notifications), OneSignal (app_id) and Expo (to); --payload-path names the place of a payload in another request"

  /// The column of the mistake, in characters, counted from 1; nil if no place in the line is known.
  package var column: Int? {
    if case .json(let mistake) = self { mistake.column } else { nil }
  }
}

extension Envelope.Form {
  /// How a sender asks for a service extension.
  fileprivate var flag: String {
    switch self {
    case .fcm, .fcmLegacy: "write \"mutable-content\": 1 into apns.payload.aps"
    case .expo: "write \"mutableContent\": true into the message"
    case .gorush: "write \"mutable_content\": true into the notification"
    case .oneSignal: "write \"mutable_content\": true into the request"
    case .sns, .path: "write \"mutable-content\": 1 into aps"
    }
  }

  fileprivate var requestWithoutAlert: String {
    switch self {
    case .fcm, .fcmLegacy:
      "the message has no text in notification and no alert in apns.payload.aps, so Apple's devices show nothing and run no service extension"
    case .expo: "the message has neither title nor body, so Apple's devices show nothing and run no service extension"
    case .gorush: "the notification has neither title nor message, so Apple's devices show nothing and run no service extension"
    case .oneSignal:
      "the request has no text in contents or headings, such as {\"en\": \"…\"}, so attache cannot know whether a service extension runs"
    case .sns, .path: "the payload's aps has no alert with a text, so Apple's devices show nothing and run no service extension"
    }
  }
}

/// What the report says about a passing line besides its reason.
struct LineNote: Sendable {
  var cause: LineCause?
  /// The value at the place of `--report-key`, as JSON; nil without the flag.
  var key: [UInt8]?

  /// Whether the line needs a record of its own.
  var needsRecord: Bool { cause != nil || key != nil }
}

extension LineOpener {
  /// What a line without an alert is instead of a payload; nil if it has `aps`, if it was opened, or if its effect needs no `aps`.
  package var shape: LineCause? {
    guard path.tokens.isEmpty, let root else { return nil }
    if let tokens = root.tokensToAps() { return .nested(JSONPointer(tokens: tokens)) }
    guard envelope == nil, aps == nil, !root.isPushWithoutAps else { return nil }
    return hasNamesOfServices && root.isDataMessage ? .dataMessage : .foreign
  }
}

extension JSONElement {
  /// Whether this is an empty payload (Wallet's passes), or one of a management server.
  fileprivate var isPushWithoutAps: Bool {
    guard member("mdm") == nil else { return true }
    return unsafe forEachChild { _, _ in false }
  }

  /// Whether this is a message of FCM with data alone.
  fileprivate var isDataMessage: Bool {
    let wrapped = member("message").flatMap { $0.isObject ? $0 : nil }
    let message = wrapped ?? self
    guard message.member("data")?.isObject == true else { return false }
    return ["token", "topic", "condition"].contains { message.member($0)?.isText == true }
  }

  /// Searches the objects of an object, two levels deep, and JSON in its strings for an object with
  /// `aps`.
  ///
  /// - Returns: the way to that object; nil if there is none.
  fileprivate func tokensToAps(depth: Int = 0) -> [JSONPointer.Token]? {
    var tokens: [JSONPointer.Token]?
    _ = unsafe forEachChild { name, child in
      guard let name = unsafe name else { return true }
      if unsafe child.withText({ unsafe $0.mayHoldAps }) == true {
        tokens = []
      } else if child.isObject, depth < 2 {
        tokens = child.member("aps")?.isObject == true ? [] : child.tokensToAps(depth: depth + 1)
      }
      tokens?.insert(JSONPointer.Token(unsafe String(decoding: name, as: UTF8.self)), at: 0)
      return tokens == nil
    }
    return tokens
  }
}

extension UnsafeRawBufferPointer {
  /// Whether a text begins as a JSON object and has the name of `aps` in it.
  fileprivate var mayHoldAps: Bool {
    guard unsafe first(where: { !$0.isJSONSpace }) == UInt8(ascii: "{") else { return false }
    let name = Array("\"aps\"".utf8)
    return indices.dropLast(name.count - 1).contains { start in unsafe self[start] == name[0] && self[start...].starts(with: name) }
  }
}
