/// A host name in the form that the gates, DNS, SNI and the Host field use: lower-case ASCII
/// without a trailing dot.
///
/// It has at most 253 bytes. A label has 1 to 63 letters, digits, dashes and underscores, and no
/// leading dash (RFC 1123, plus the underscore, which real names use). The last label begins with a
/// letter, so that no name can be read as an address.
package struct HostName: Hashable, Sendable {
  let text: String
  /// Whether the name has only one label, such as `intranet`. A resolver's search list would
  /// complete it.
  let isSingleLabel: Bool

  /// Parses a name with at most one trailing dot.
  ///
  /// - Throws: a refusal `policy.host` with the error.
  init(_ bytes: ArraySlice<UInt8>) throws(Refusal) {
    var name = bytes.map(\.lowercasedASCII)
    if name.last == UInt8(ascii: ".") { name.removeLast() }
    guard !name.isEmpty else { throw Refusal(.policyHost, "the host is empty") }
    if let bad = name.first(where: { !Self.isAllowed($0) }) { throw Self.badByte(bad, in: bytes) }
    guard name.count <= 253 else { throw Refusal(.policyHost, "the host is longer than 253 bytes (RFC 1035)") }
    let labels = name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    for label in labels { try Self.check(label, of: bytes) }
    guard let top = labels.last?.first, top.isLetterASCII else {
      throw Refusal(.policyHost, "'\(Refusal.quote(bytes))' ends like a number but is not an IPv4 address")
    }
    text = String(decoding: name, as: UTF8.self)
    isSingleLabel = labels.count == 1
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    byte.isLetterASCII || byte.decimalDigit != nil || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
  }

  private static func badByte(_ byte: UInt8, in host: ArraySlice<UInt8>) -> Refusal {
    let host = Refusal.quote(host)
    if byte >= 0x80 { return Refusal(.policyHost, "the host '\(host)' is not ASCII; write it with A-labels (xn--…)") }
    return Refusal(
      .policyHost, "the host '\(host)' contains '\(Refusal.quote([byte]))'; only letters, digits, '-', '_' and '.' are allowed")
  }

  private static func check(_ label: ArraySlice<UInt8>, of host: ArraySlice<UInt8>) throws(Refusal) {
    let host = Refusal.quote(host)
    guard let first = label.first else { throw Refusal(.policyHost, "the host '\(host)' has an empty label") }
    guard label.count <= 63 else { throw Refusal(.policyHost, "a label of the host '\(host)' is longer than 63 bytes (RFC 1035)") }
    guard first != UInt8(ascii: "-") else { throw Refusal(.policyHost, "a label of the host '\(host)' begins with a dash (RFC 952)") }
    if label.starts(with: "xn--".utf8), !isALabel(label) {
      throw Refusal(.policyHost, "'\(Refusal.quote(label))' in the host is not an A-label (RFC 3492, RFC 5891)")
    }
  }

  /// Returns whether the label decodes to text that is not all ASCII and contains nothing that
  /// browsers map, drop or read as a dot.
  private static func isALabel(_ label: ArraySlice<UInt8>) -> Bool {
    guard let scalars = Punycode.decode(label.dropFirst(4)), scalars.contains(where: { !$0.isASCII }) else { return false }
    return scalars.allSatisfy(isStable)
  }

  /// Returns whether UTS #46 leaves the scalar unchanged. The four deviation characters count as
  /// stable, as in RFC 5892.
  private static func isStable(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "\u{DF}", "\u{3C2}", "\u{200C}", "\u{200D}": return true
    case "\u{3002}": return false
    default: break
    }
    switch scalar.properties.generalCategory {
    case .control, .format, .surrogate, .privateUse, .unassigned, .spaceSeparator, .lineSeparator, .paragraphSeparator: return false
    default: return !scalar.properties.changesWhenNFKCCaseFolded
    }
  }
}
