internal import Attache
internal import FoundationEssentials

/// Signs JSON Web Tokens.
///
/// Sources: RFC 7515, RFC 7519
enum WebToken {
  /// Returns a signed token.
  ///
  /// - Parameters:
  ///   - claims: a JSON object.
  ///   - keyID: the key's name at the service; nil leaves it out.
  /// - Returns: nil if libcrypto cannot sign, as without memory, or if the key suits no algorithm.
  static func signed(_ claims: [UInt8], by key: CryptoKey, keyID: String?) -> String? {
    guard let algorithm = key.algorithm else { return nil }
    var header = JSONWriter()
    header.beginObject()
    header.key("alg")
    header.string(algorithm.rawValue)
    if let keyID {
      header.key("kid")
      header.string(keyID)
    }
    header.key("typ")
    header.string("JWT")
    header.endObject()
    let signed = "\(base64(header.bytes)).\(base64(claims))"
    return key.signature(of: Array(signed.utf8)).map { "\(signed).\(base64($0))" }
  }

  /// Returns bytes in the base64 of URLs (RFC 4648, 5), without padding.
  private static func base64(_ bytes: [UInt8]) -> String {
    Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }
}
