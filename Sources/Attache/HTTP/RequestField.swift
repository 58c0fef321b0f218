/// The rules for header fields that the operator adds to requests (RFC 9110, 5).
public enum RequestField {
  /// The text of `User-Agent` by default. It says nothing about the machine or the version.
  public static let defaultUserAgent = "attache"
  /// The longest value of a field, in bytes.
  package static let longestValue = 4_000

  /// Returns a text that may be sent as `User-Agent`.
  ///
  /// - Throws: ``StartError`` for another text.
  package static func userAgent(_ text: String) throws(StartError) -> String {
    if let mistake = mistake(inValue: text.utf8) { throw StartError("it \(mistake)") }
    return text
  }

  /// Returns why a text cannot be the value of a field, to follow the field's name in a message; nil
  /// for a usable value.
  ///
  /// A value is ASCII without control characters, except for tabs within it. The bytes beyond ASCII
  /// that RFC 9110, 5.5 still knows are refused: each server reads them in its own way.
  package static func mistake(inValue value: some BidirectionalCollection<UInt8>) -> String? {
    if value.isEmpty { return "has no value" }
    if value.count > longestValue { return "has a value of more than \(longestValue) bytes" }
    if value.contains(where: { $0 >= 0x80 }) { return "has a value that is not ASCII; write it with its ASCII characters alone" }
    if value.contains(where: { $0.isControlASCII && $0 != UInt8(ascii: "\t") }) {
      return "has a value with a control character, such as a carriage return; remove it"
    }
    if [value.first, value.last].contains(where: { $0?.isBlank == true }) {
      return "has a value that begins or ends with a blank; remove it"
    }
    return nil
  }

  /// Returns whether a text has the form of a field's name: a token (RFC 9110, 5.6.2).
  static func isName(_ text: some Collection<UInt8>) -> Bool {
    !text.isEmpty && text.allSatisfy(isTokenByte)
  }

  /// Returns whether attache or the connection sets the field of this name.
  static func isReserved(_ name: String) -> Bool {
    let name = name.lowercased()
    return framing.contains(name) || reserved.contains(name) || ["if-", "proxy-"].contains(where: name.hasPrefix)
  }

  /// The fields of the connection and of the request's own form (RFC 9110, 7.6.1 and 8.6; RFC 9112, 6
  /// and 9).
  private static let framing: Set<String> = [
    "connection", "content-encoding", "content-length", "expect", "host", "http2-settings", "keep-alive", "te", "trailer",
    "transfer-encoding", "upgrade",
  ]
  /// The fields with which attache asks for a body that it can check and resume.
  private static let reserved: Set<String> = ["accept-encoding", "range"]

  private static func isTokenByte(_ byte: UInt8) -> Bool {
    byte.isLetterASCII || byte.decimalDigit != nil || "!#$%&'*+-.^_`|~".utf8.contains(byte)
  }
}
