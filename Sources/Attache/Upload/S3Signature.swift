internal import Glibc

/// The signature of a request to S3, version 4, in its header fields:
/// docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
///
/// A pure function. libcurl's own (CURLOPT_AWS_SIGV4) signs fields that are removed before the
/// request is sent (7.88.1).
struct S3Signature {
  /// What signs a request.
  struct Key: Hashable, Sendable {
    var identifier: String
    var secret: String
    /// The token of temporary credentials.
    var sessionToken: String?
  }

  var key: Key
  var region: String
  /// The time of the request, in seconds since 1970.
  var time: Int64

  /// The hash of no bytes.
  static let emptyHash = SHA256.hash([]).hexadecimal()

  /// Returns the fields of a request with its signature.
  ///
  /// - Parameters:
  ///   - path: percent-encoded (``S3Endpoint/path(of:)``).
  ///   - query: the names and values of the query.
  ///   - fields: the fields to send and to sign, beside those that signing adds. Names are in lower
  ///     case.
  ///   - payloadHash: the SHA-256 of the body, in hexadecimal digits.
  func fields(
    _ method: String, host: String, path: String, query: [(String, String)] = [], _ fields: [(String, String)], payloadHash: String
  ) -> [(String, String)] {
    let (date, day) = Self.dates(time)
    var all = fields + [("x-amz-content-sha256", payloadHash), ("x-amz-date", date)]
    if let token = key.sessionToken { all.append(("x-amz-security-token", token)) }
    let signed = (all + [("host", host)]).sorted { Array($0.0.utf8).lexicographicallyPrecedes(Array($1.0.utf8)) }
    let names = signed.map(\.0).joined(separator: ";")
    let pairs = query.map { (Self.encoded($0.0), Self.encoded($0.1)) }
      .sorted { Array("\($0.0)=\($0.1)".utf8).lexicographicallyPrecedes(Array("\($1.0)=\($1.1)".utf8)) }
    let request = [
      method, path, pairs.map { "\($0.0)=\($0.1)" }.joined(separator: "&"),
      signed.map { "\($0.0):\(Self.trimmed($0.1))\n" }.joined(), names, payloadHash,
    ].joined(separator: "\n")
    let scope = "\(day)/\(region)/s3/aws4_request"
    let text = ["AWS4-HMAC-SHA256", date, scope, SHA256.hash(Array(request.utf8)).hexadecimal()].joined(separator: "\n")
    var signing = Array("AWS4\(key.secret)".utf8)
    for part in [day, region, "s3", "aws4_request", text] { signing = SHA256.hmac(Array(part.utf8), key: signing) }
    let signature = signing.reduce(into: "") { text, byte in text += (byte < 16 ? "0" : "") + String(byte, radix: 16) }
    return all + [
      ("authorization", "AWS4-HMAC-SHA256 Credential=\(key.identifier)/\(scope),SignedHeaders=\(names),Signature=\(signature)")
    ]
  }

  /// Percent-encodes everything but unreserved characters (RFC 3986, 2.3).
  static func encoded(_ text: String, keepsSlashes: Bool = false) -> String {
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      let isKept = byte.isLetterASCII || byte.decimalDigit != nil || "-._~".utf8.contains(byte) || keepsSlashes && byte == UInt8(ascii: "/")
      if isKept {
        bytes.append(byte)
      } else {
        bytes += Array("%\(String(byte >> 4, radix: 16, uppercase: true))\(String(byte & 15, radix: 16, uppercase: true))".utf8)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Removes blanks at both ends, and makes one blank of several.
  private static func trimmed(_ text: String) -> String {
    text.utf8.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }.map { String(decoding: Array($0), as: UTF8.self) }.joined(
      separator: " ")
  }

  /// Returns the time as `20130524T000000Z`, and its day.
  private static func dates(_ time: Int64) -> (String, String) {
    var (time, parts) = unsafe (time_t(time), tm())
    unsafe gmtime_r(&time, &parts)
    func digits(_ number: Int32, _ count: Int) -> String {
      let text = String(number)
      return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }
    let (year, month, dayOfMonth) = unsafe (parts.tm_year + 1_900, parts.tm_mon + 1, parts.tm_mday)
    let (hour, minute, second) = unsafe (parts.tm_hour, parts.tm_min, parts.tm_sec)
    let day = digits(year, 4) + digits(month, 2) + digits(dayOfMonth, 2)
    return ("\(day)T\(digits(hour, 2))\(digits(minute, 2))\(digits(second, 2))Z", day)
  }
}
