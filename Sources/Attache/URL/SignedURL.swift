/// The rule for URLs that give access to whoever has them, for a while: presigned URLs of storage
/// services, signed URLs of CDNs, and URLs with a token.
enum SignedURL {
  /// Parameters whose presence is enough, in lower case. Their documentation:
  ///
  /// - AWS Signature Version 4 and 2, and CloudFront: `X-Amz-Signature`, `X-Amz-Security-Token`,
  ///   `Signature`, `Key-Pair-Id`
  /// - Google Cloud Storage and Cloud CDN: `X-Goog-Signature`, `GoogleAccessId`
  /// - Azure's shared access signatures: `sig`
  /// - Akamai: `hdnts`, `hdnea`, `__token__`, `__gda__`
  /// - Alibaba, Tencent and others: `OSSAccessKeyId`, `x-oss-signature`, `q-signature`, `auth_key`
  /// - OAuth 2.0 (RFC 6750, 2.3): `access_token`; Firebase Storage and others: `token`
  private static let parameters: Set<[UInt8]> = Set(
    [
      "x-amz-signature", "x-amz-security-token", "x-amz-credential", "signature", "key-pair-id", "x-goog-signature", "x-goog-credential",
      "googleaccessid", "sig", "hdnts", "hdnea", "__token__", "__gda__", "ossaccesskeyid", "x-oss-signature", "x-cos-security-token",
      "q-signature", "auth_key", "access_token", "token", "jwt", "auth", "authorization", "apikey", "api_key", "hmac",
    ].map { Array($0.utf8) })

  /// Returns whether a parameter of the query has a name of a signature or a token, in any case.
  ///
  /// - Parameter url: an absolute URL. Names may be percent-encoded.
  static func looksSigned(_ url: String) -> Bool {
    guard let mark = url.utf8.firstIndex(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }), url.utf8[mark] == UInt8(ascii: "?")
    else { return false }
    let query = url.utf8[mark...].dropFirst().prefix { $0 != UInt8(ascii: "#") }
    return query.split(whereSeparator: { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: ";") }).contains { parameter in
      parameters.contains(name(of: parameter.prefix { $0 != UInt8(ascii: "=") }))
    }
  }

  /// Returns a parameter's name, decoded and in lower case.
  private static func name(of text: Substring.UTF8View) -> [UInt8] {
    var (name, rest) = ([UInt8](), text[...])
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), let high = rest.first?.hexadecimalDigit, let low = rest.dropFirst().first?.hexadecimalDigit {
        rest = rest.dropFirst(2)
        name.append(UInt8(high << 4 | low).lowercasedASCII)
      } else {
        name.append(byte.lowercasedASCII)
      }
    }
    return name
  }
}
