internal import Attache
package import AttacheQueue

/// Creates requests from results. One thread at a time may use it.
///
/// A line is a request of FCM's HTTP v1 API. Its message is sent as written, without the output member
/// (`attache`) if its attachments have `file:` URLs, which no device can load. Other members of the line
/// are the user's own, and are not sent.
///
/// Source: https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages/send
package final class FCMRequestMaker {
  /// The outcome for a result.
  package enum Made: Sendable {
    case request(FCMRequest)
    /// The result is not sent, for this reason.
    case nothing(String)
  }

  private let parser = JSONParser()
  private let outputKey: String
  /// Whether any message has lost its attachments because they have `file:` URLs.
  package private(set) var hasLostMedia = false

  /// The objects between a message and the output member: `apns` and `payload`.
  private static let depth = 2

  package init(outputKey: String) {
    self.outputKey = outputKey
  }

  package func make(_ delivery: Delivery) -> Made {
    var line = delivery.line
    if line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
    guard line.count <= 1 << 20 else { return .nothing("the line is longer than 1 MiB") }
    guard let root = parser.parse(copying: line), root.isObject else { return .nothing("the line is not a JSON object") }
    guard let message = root.member("message"), message.isObject else { return .nothing(Self.unknown(root)) }
    let receivers = ["token", "topic", "condition"].filter { message.member($0)?.isText == true }
    guard receivers.count == 1 else {
      let found = receivers.isEmpty ? "no receiver" : receivers.joined(separator: " and ")
      return .nothing("the message has \(found), and must have one of token, topic and condition")
    }
    let deviceToken = message.member("token")?.text?.string
    let isTrial = ["validate_only", "validateOnly"].contains { root.member($0)?.boolean == true }
    guard let body = body(of: JSONText(line), isTrial: isTrial) else { return .nothing(Self.unknown(root)) }
    return .request(FCMRequest(delivery.token, deviceToken: deviceToken, body: body))
  }

  private func body(of text: JSONText, isTrial: Bool) -> [UInt8]? {
    guard let message = text.value("message", of: text.root) else { return nil }
    let source = Array(text.bytes[message])
    let removals = JSONText(source).fileMembers(outputKey, in: source.indices, depth: Self.depth)
    if !removals.isEmpty { hasLostMedia = true }
    var body = Array("{\"message\":".utf8)
    body.reserveCapacity(source.count + 40)
    body += removals.isEmpty ? source : LineEdit.apply(removals, to: source)
    if isTrial { body += Array(",\"validate_only\":true".utf8) }
    body.append(UInt8(ascii: "}"))
    return body
  }

  private static func unknown(_ root: JSONElement) -> String {
    let isLegacy = root.member("registration_ids") != nil || root.member("to") != nil
    return isLegacy
      ? "the line is a message of FCM's legacy API, which Google has shut down; write {\"message\":{\"token\":…}}"
      : "the line is not a message of FCM's HTTP v1 API: it has no object \"message\""
  }
}
