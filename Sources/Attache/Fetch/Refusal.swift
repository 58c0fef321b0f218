/// A gate's "no": what was refused, by which rule, and what would allow it.
public struct Refusal: Error, Hashable, Sendable {
  /// The code for the report, mostly one of the `policy` family.
  public var reason: Reason
  /// One line for a person: the thing refused, the rule with its source, the flag that would allow it if there is one.
  /// Bytes of a payload stand in it only as printable ASCII.
  public var message: String

  /// Makes a refusal from its code and its line.
  public init(_ reason: Reason, _ message: String) {
    self.reason = reason
    self.message = message
  }
}

extension Refusal {
  /// Hostile bytes as they may stand in a message: printable ASCII as it is, the rest as `\xNN`, cut after `limit` characters.
  static func quote(_ bytes: some Collection<UInt8>, limit: Int = 80) -> String {
    var text = ""
    for byte in bytes {
      let isPrintable = byte >= 0x20 && byte < 0x7F
      guard text.utf8.count + (isPrintable ? 1 : 4) <= limit else { return text + "…" }
      if isPrintable {
        text.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        text += "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }
    }
    return text
  }
}
