/// The parts of a URI that libpq does not know or attache does not accept.
struct URIParts {
  /// The URI without the name of the queue.
  let rest: String
  let queue: String?
  let hasPassword: Bool

  init(_ text: String) {
    let question = text.utf8.firstIndex(of: UInt8(ascii: "?")) ?? text.endIndex
    let (head, query) = (text[..<question], text[question...].dropFirst())
    var (others, queue, hasPassword) = ([Substring](), nil as String?, Self.hasPassword(head))
    for item in query.utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).compactMap(Substring.init) {
      let equals = item.utf8.firstIndex(of: UInt8(ascii: "=")) ?? item.endIndex
      switch Self.decoded(item[..<equals]) {
      case "queue": queue = Self.decoded(item[equals...].dropFirst())
      case let name:
        if ["password", "sslpassword"].contains(name) { hasPassword = true }
        others.append(item)
      }
    }
    let options = others.joined(separator: "&")
    rest = String(head) + (options.isEmpty ? "" : "?" + options)
    (self.queue, self.hasPassword) = (queue, hasPassword)
  }

  /// Whether the user's name is followed by a password: a colon before the last `@` of the
  /// authority.
  private static func hasPassword(_ head: Substring) -> Bool {
    guard let slashes = head.firstRange(of: "://") else { return false }
    let authority = head[slashes.upperBound...].prefix { $0 != "/" }
    guard let at = authority.lastIndex(of: "@") else { return false }
    return authority[..<at].contains(":")
  }

  /// Decodes `%XX`.
  private static func decoded(_ text: Substring) -> String {
    var (bytes, rest) = ([UInt8](), Array(text.utf8)[...])
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) {
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
