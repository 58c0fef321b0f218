package import Attache

/// The token that a request for metrics must have (RFC 6750, section 2.1).
package struct BearerToken: Sendable {
  private let bytes: [UInt8]

  /// Reads a file that only its owner may read. One line feed at the end does not count.
  ///
  /// - Throws: ``StartError`` when the file cannot be used. No message quotes it.
  package init(contentsOf path: String) throws(StartError) {
    let flag = "--metrics-bearer-file"
    var bytes = try PrivateFile.read(path, of: flag).bytes
    if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
    guard !bytes.isEmpty, bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
      throw StartError("\(flag): \(PrintableText.of(path)) is not a token; write one line of ASCII without blanks to it")
    }
    self.bytes = bytes
  }

  /// Whether the value of the field `Authorization` has the token. The time of the comparison tells
  /// only its length.
  package func admits(_ field: some Collection<UInt8>) -> Bool {
    // The name of a scheme has no case (RFC 9110, section 11.1).
    let scheme = "bearer ".utf8
    guard field.count == scheme.count + bytes.count, zip(scheme, field).allSatisfy({ $0 == $1.lowercasedASCII }) else { return false }
    return zip(bytes, field.dropFirst(scheme.count)).reduce(0 as UInt8) { $0 | $1.0 ^ $1.1 } == 0
  }
}
