import CExtensionRuntime

/// The frames that an extension's process sends to its host. The content of each is a JSON object.
package enum ExtensionFrame: UInt8 {
  /// The process is ready: `version`, `class`.
  case ready = 1
  /// A request has reached its instance: `request`.
  case began = 2
  /// `didReceive` has returned: `request`.
  case returned = 3
  /// The content handler was called: `request`, `call` (counted from 1), `changes`, `attachments`.
  case answer = 4
  /// `serviceExtensionTimeWillExpire` has returned: `request`.
  case expired = 5
  /// The final state of a request: `request`, `isAlive`, `isChangedAfter`.
  case finished = 6
  /// An attachment was refused: `path`, `code`, `message`.
  case refusedAttachment = 7
  /// A transfer began or ended: `transfer`, `url`, and at the end `status`, `type`, `bytes`, `ms`,
  /// `code`, `address`.
  case transfer = 8
  /// Something that a finding may name: `note` (a name of ``HostLink/Note``), `text`.
  case note = 9
  /// The completion handler of a silent push was called: `request`, `call` (counted from 1), `result`.
  case completed = 10
  /// The content handler was called with content that no frame can hold: `request`, `why`.
  case unreadable = 11
  /// Something happened to a download of a background session: `session`, `event` (`started`,
  /// `cancelled`, `created` when the session exists again, `delivered`), `task`, `url`.
  case background = 12
}

/// The connection with the process that runs this extension.
package enum HostLink {
  /// The version of the frames. A host refuses an extension with another one.
  package static let version = 2

  /// What a note says.
  package enum Note: String {
    /// A picture was encoded without a codec, so its bytes are those of the original.
    case transcodedImage = "image.transcoded"
    /// A value of user info cannot be written as JSON.
    case unserialisable = "userinfo.unserialisable"
    /// A type hint is not a uniform type identifier.
    case hint = "attach.hint"
    /// A write removed a category that another writer had added.
    case categoriesRace = "categories.race"
    /// A stand-in took the place of a vendor's SDK.
    case standIn = "stand-in"
    /// Something that Apple's framework does and this one only accepts.
    case accepted
  }

  /// Sends a frame. Without a host, nothing happens.
  ///
  /// - Returns: false if the content cannot be sent: JSON cannot hold it, or it is longer than a frame.
  @discardableResult
  package static func send(_ frame: ExtensionFrame, _ content: [String: Any]) -> Bool {
    json(content).map { send(frame, json: $0) } ?? false
  }

  /// Sends a frame about a request, without other members.
  package static func send(_ frame: ExtensionFrame, request: UInt64) {
    send(frame, json: Data(#"{"request":\#(request)}"#.utf8))
  }

  /// Sends a frame whose content is JSON already.
  ///
  /// - Returns: false if it is longer than a frame.
  @discardableResult
  package static func send(_ frame: ExtensionFrame, json: Data) -> Bool {
    guard json.count < runtime_maximum_sent else { return false }
    json.withUnsafeBytes { _ = runtime_write(frame.rawValue, $0.baseAddress, $0.count) }
    return true
  }

  /// Returns an object or an array as JSON with sorted keys; nil if JSON cannot hold it.
  package static func json(_ value: Any) -> Data? {
    try? JSONSerialization.data(withJSONObject: value, options: [.withoutEscapingSlashes, .sortedKeys])
  }

  /// Sends a note.
  package static func note(_ note: Note, _ text: String) {
    send(.note, ["note": note.rawValue, "text": text])
  }
}
