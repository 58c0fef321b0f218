/// A response of the store to one request, as far as the upload needs it.
struct S3Answer: Sendable {
  /// 0 without a response.
  var status = 0
  /// The error code in the body, such as `AccessDenied`; printable ASCII, or empty.
  var code = ""
  /// The age of the object: the response's Date minus its Last-Modified; nil if one is missing.
  var age: Duration?
  /// The region of the bucket (`x-amz-bucket-region`), in a response that says so.
  var region = ""
  /// Why there is no response; empty if there is one.
  var failure = ""

  /// The most bytes of a body that are read.
  static let longestBody = 16 << 10

  /// Returns the text between the first `<Code>` and `</Code>` of an error's body.
  static func code(in body: [UInt8]) -> String {
    guard let start = body.firstRange(of: Array("<Code>".utf8)), let end = body[start.upperBound...].firstRange(of: Array("</Code>".utf8))
    else { return "" }
    return printable(body[start.upperBound..<end.lowerBound])
  }

  /// Returns a text of a stranger if it has at most 64 letters, digits, dots and hyphens.
  static func printable(_ bytes: some Collection<UInt8>) -> String {
    let isSafe = bytes.count <= 64 && bytes.allSatisfy { $0.isLetterASCII || $0.decimalDigit != nil || ".-_".utf8.contains($0) }
    return isSafe ? String(decoding: Array(bytes), as: UTF8.self) : ""
  }

  /// The response or its absence, in words.
  var words: String {
    guard status > 0 else { return failure }
    return code.isEmpty ? "the bucket's server answered \(status)" : "the bucket's server answered \(status) \(code)"
  }

  /// Whether another try may succeed: there was no response, or the server is overloaded or failed.
  var isTransient: Bool { status == 0 || [408, 409, 429].contains(status) || 500...599 ~= status && status != 501 }

  /// What the user can do about a refusal.
  var advice: String {
    switch code {
    case "RequestTimeTooSkewed": "the clock of this machine is wrong; set it"
    case "SignatureDoesNotMatch": "the secret key or --upload-region is wrong; check --upload-credentials"
    case "InvalidAccessKeyId", "ExpiredToken", "InvalidToken": "renew the key in --upload-credentials"
    case "AccessDenied": "give the key the right to put, get and delete objects below --upload"
    case "NoSuchBucket": "create the bucket, or correct --upload"
    case "PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException": "check --upload-region"
    default:
      switch status {
      case 301, 307: region.isEmpty ? "check --upload-endpoint and --upload-region" : "the bucket is in --upload-region \(region)"
      case 403: "check --upload-credentials, the key's rights, and the clock of this machine"
      default: "check --upload and --upload-endpoint"
      }
    }
  }
}
