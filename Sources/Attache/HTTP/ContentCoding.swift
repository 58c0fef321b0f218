/// The content codings of HTTP, of which attache asks for none.
///
/// Any other token in a Content-Encoding says nothing about the bytes: uploads to S3 leave labels
/// such as `base64`, `aws-chunked` and `UTF-8` there. Browsers ignore them, and so does attache: the
/// bytes decide.
enum ContentCoding {
  /// IANA's HTTP Content Coding Registry
  /// (https://www.iana.org/assignments/http-parameters/http-parameters.xhtml), without `identity`,
  /// which changes nothing.
  private static let registered: Set = [
    "aes128gcm", "br", "compress", "dcb", "dcz", "deflate", "exi", "gzip", "pack200-gzip", "x-compress", "x-gzip", "zstd",
  ]
  private static let longestName = 12

  /// Returns the first registered coding in a Content-Encoding, in lower case; nil if there is none.
  static func named(in field: UntrustedText) -> String? {
    field.utf8.split { $0 == UInt8(ascii: ",") || $0.isBlank }.lazy.compactMap { word in
      guard word.count <= longestName else { return nil }
      return UntrustedText(decoding: word).lowercasedWord(maximumBytes: longestName).flatMap { registered.contains($0) ? $0 : nil }
    }.first
  }
}
