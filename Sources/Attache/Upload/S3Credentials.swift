/// The key in a file of credentials, which may be replaced while it is in use.
struct S3Credentials {
  /// How long a key is used before the file is looked at again.
  static let lookInterval = Duration.seconds(60)

  private let path: String
  private var identity: FileIdentity?
  private var checked = MonotonicInstant.distantPast
  private(set) var key: S3Signature.Key

  /// - Throws: ``StartError`` when the file cannot be used.
  init(_ path: String, now: MonotonicInstant) throws(StartError) {
    self.path = path
    (key, identity) = try Self.read(path)
    checked = now
  }

  /// Reads the file again if it was replaced and the last look is ``lookInterval`` ago.
  ///
  /// - Returns: why the new file cannot be used; the earlier key stays in use.
  mutating func refresh(now: MonotonicInstant) -> String? {
    guard checked.duration(to: now) >= Self.lookInterval else { return nil }
    checked = now
    guard FileIdentity(path: path) != identity else { return nil }
    do throws(StartError) {
      (key, identity) = try Self.read(path)
      return nil
    } catch {
      return "\(error)"
    }
  }

  private static func read(_ path: String) throws(StartError) -> (S3Signature.Key, FileIdentity?) {
    let (bytes, identity) = try PrivateFile.read(path, of: "--upload-credentials")
    guard let key = parse(bytes) else {
      throw StartError(
        "--upload-credentials: \(path) has no section [default] with aws_access_key_id and aws_secret_access_key, as ~/.aws/credentials has"
      )
    }
    return (key, identity)
  }

  /// Parses the section `default` of a file in AWS' form.
  static func parse(_ bytes: some Collection<UInt8>) -> S3Signature.Key? {
    var (values, isDefault) = ([String: String](), false)
    for line in bytes.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) {
      let text = trimmed(line)
      if text.first == UInt8(ascii: "[") {
        isDefault = text.elementsEqual("[default]".utf8)
      } else if isDefault, text.first != UInt8(ascii: "#"), let equals = text.firstIndex(of: UInt8(ascii: "=")) {
        let (name, value) = (trimmed(text[..<equals]), trimmed(text[text.index(after: equals)...]))
        // A field of a request is printable ASCII without blanks.
        guard value.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        values[String(decoding: name.map(\.lowercasedASCII), as: UTF8.self)] = String(decoding: value, as: UTF8.self)
      }
    }
    guard let identifier = values["aws_access_key_id"], let secret = values["aws_secret_access_key"], !identifier.isEmpty, !secret.isEmpty
    else { return nil }
    let token = values["aws_session_token"]
    return S3Signature.Key(identifier: identifier, secret: secret, sessionToken: token?.isEmpty == true ? nil : token)
  }

  private static func trimmed(_ text: some Collection<UInt8>) -> [UInt8] {
    let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    return Array(Array(text.drop(while: isBlank).reversed()).drop(while: isBlank).reversed())
  }
}
