/// A location in a payload, written as a JSON pointer (`/data/image`, RFC 6901) or as a dotted path
/// (`data.image`).
///
/// A part made of digits names an element of an array (`attachments.0.url`) or a member of an
/// object, depending on the value there. To name a key that contains a dot, use a pointer
/// (`/gcm.notification.image`).
public struct JSONPointer: Hashable, Sendable, CustomStringConvertible {
  /// The parts, from the outermost to the innermost; empty for the whole payload.
  let tokens: [Token]

  /// Parses a JSON pointer. The empty text names the whole payload.
  ///
  /// - Throws: ``JSONPointerError/noSlash(_:)`` when a text that is not empty does not start with
  ///   `/`; ``JSONPointerError/tilde(_:)`` when `~` is not followed by `0` or `1`.
  public init(pointer text: String) throws(JSONPointerError) {
    guard text.isEmpty || text.utf8.first == UInt8(ascii: "/") else { throw .noSlash(text) }
    var parts: [String] = []
    for part in text.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
      guard let name = Self.unescape(part) else { throw .tilde(text) }
      parts.append(name)
    }
    self.init(parts: parts)
  }

  /// Parses either form: a text that starts with `/` is a JSON pointer, any other is a dotted path.
  ///
  /// - Throws: ``JSONPointerError`` when the text is empty or malformed.
  public init(path text: String) throws(JSONPointerError) {
    guard !text.isEmpty else { throw .empty }
    if text.utf8.first == UInt8(ascii: "/") {
      try self.init(pointer: text)
      return
    }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard !parts.contains("") else { throw .emptyPart(text) }
    self.init(parts: parts.map(String.init))
  }

  /// Makes the location with these parts, from the outermost to the innermost. The parts are not
  /// unescaped or split.
  public init(_ parts: String...) {
    self.init(parts: parts)
  }

  init(parts: [String]) {
    self.init(tokens: parts.map(Token.init))
  }

  init(tokens: [Token]) {
    self.tokens = tokens
  }

  /// The names of the parts, without escapes.
  package var parts: [String] { tokens.map(\.text) }

  /// The JSON pointer.
  public var description: String {
    tokens.map { token in "/" + Self.escape(token.text) }.joined()
  }

  /// Returns an untrusted name as a part of a JSON pointer, including its slash.
  package static func part(_ name: UntrustedText) -> UntrustedText {
    UntrustedText("/" + escape(name.string))
  }

  private static func escape(_ name: String) -> String {
    var escaped: [UInt8] = []
    for byte in name.utf8 {
      switch byte {
      case UInt8(ascii: "~"): escaped += "~0".utf8
      case UInt8(ascii: "/"): escaped += "~1".utf8
      default: escaped.append(byte)
      }
    }
    return String(decoding: escaped, as: UTF8.self)
  }

  /// Decodes `~0` and `~1`; returns nil when any other character follows a tilde.
  private static func unescape(_ part: Substring) -> String? {
    var plain: [UInt8] = []
    var bytes = part.utf8.makeIterator()
    while let byte = bytes.next() {
      guard byte == UInt8(ascii: "~") else {
        plain.append(byte)
        continue
      }
      switch bytes.next() {
      case UInt8(ascii: "0"): plain.append(UInt8(ascii: "~"))
      case UInt8(ascii: "1"): plain.append(UInt8(ascii: "/"))
      default: return nil
      }
    }
    return String(decoding: plain, as: UTF8.self)
  }
}

extension JSONPointer {
  /// One part: the name of a member, and the index of an element if the part is a number.
  struct Token: Hashable, Sendable {
    let text: String
    /// The index, from digits without a leading zero, as RFC 6901 requires; nil for any other text.
    let index: Int?

    /// The element at an index.
    init(index: Int) {
      (text, self.index) = (String(index), index)
    }

    init(_ text: String) {
      self.text = text
      let isIndex = text == "0" || text.utf8.first.map { 0x31...0x39 ~= $0 } == true
      index = isIndex ? Int(text) : nil
    }
  }
}

/// The reason why a text does not name a location in a payload. All cases except `empty` carry the
/// text.
public enum JSONPointerError: Error, Equatable, CustomStringConvertible {
  /// The path is empty.
  case empty
  /// The JSON pointer does not start with a slash.
  case noSlash(String)
  /// The JSON pointer has a tilde that is not followed by 0 or 1.
  case tilde(String)
  /// The dotted path has an empty part.
  case emptyPart(String)

  /// A message that says what is wrong and what to write instead.
  public var description: String {
    switch self {
    case .empty: "the path is empty; name a member, such as data.image or /data/image"
    case .noSlash(let text): "“\(text)” is not a JSON pointer: it must start with a slash, such as /message/payload"
    case .tilde(let text): "“\(text)” has a ~ without a 0 or 1 after it; write ~0 for a tilde and ~1 for a slash in a name"
    case .emptyPart(let text): "“\(text)” has an empty part; write one dot between two names, or write it as a JSON pointer (/a//b)"
    }
  }
}
