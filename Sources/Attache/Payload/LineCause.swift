/// What is known about a line beside its reason: what is wrong with it, and where.
package enum LineCause: Hashable, Sendable {
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
    case .noAlert(let form): form.requestWithoutAlert
    case .noFlag(let form): "the request does not ask for a service extension; \(form.flag) if it should show media"
    case .wrongFlag(let mistake): mistake.text
    case .tooLarge(let excess): excess.text
    }
  }

  /// The column of the mistake, in characters, counted from 1; nil if no place in the line is known.
  package var column: Int? {
    if case .json(let mistake) = self { mistake.column } else { nil }
  }
}

/// Why `mutable-content` does not count although something like it is in `aps`.
package enum FlagMistake: Hashable, Sendable {
  /// The value is neither the number 1 nor a value that switches the flag off.
  case value
  /// The name is not Apple's.
  case name(String)

  var text: String {
    switch self {
    case .value: "mutable-content is not the number 1, so no service extension runs; write \"mutable-content\": 1, without quotation marks"
    case .name(let name): "Apple does not know “\(name)”, so no service extension runs; write \"mutable-content\": 1"
    }
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
