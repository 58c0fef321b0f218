/// The first line of a request to the ``MetricsServer`` (RFC 9112, section 3).
struct MetricsRequest: Equatable {
  let method: String
  /// The path without a query.
  let path: String

  /// Returns where the head of a request ends; nil if it is not complete.
  static func endOfHead(_ bytes: [UInt8]) -> Int? {
    var isEmptyLine = false
    for (index, byte) in bytes.enumerated() where byte != UInt8(ascii: "\r") {
      guard byte == UInt8(ascii: "\n") else {
        isEmptyLine = false
        continue
      }
      if isEmptyLine { return index + 1 }
      isEmptyLine = true
    }
    return nil
  }

  /// - Parameter head: the bytes of the head.
  /// - Returns: nil when its first line is no request of HTTP/1.0 or HTTP/1.1.
  init?(head: ArraySlice<UInt8>) {
    let line = head.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
    let words = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
    guard words.count == 3, ["HTTP/1.1", "HTTP/1.0"].contains(words[2]), !words[0].isEmpty else { return nil }
    method = words[0]
    var target = words[1][...]
    if target.hasPrefix("http://") { target = target.dropFirst(7).drop { $0 != "/" } }
    guard target.hasPrefix("/") else { return nil }
    path = String(target.prefix { $0 != "?" })
  }
}

/// A response of the ``MetricsServer``, after which it closes the connection.
struct MetricsResponse: Equatable {
  let bytes: [UInt8]

  private static let phrases = [
    200: "OK", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed", 431: "Request Header Fields Too Large",
    503: "Service Unavailable",
  ]

  /// - Parameters:
  ///   - type: the value of Content-Type.
  ///   - fields: more fields.
  ///   - isBodyless: whether the body is left out, as for HEAD.
  init(_ status: Int, _ body: String, type: String = "text/plain; charset=utf-8", fields: [String] = [], isBodyless: Bool = false) {
    let lines =
      ["HTTP/1.1 \(status) \(Self.phrases[status] ?? "")", "Content-Type: \(type)", "Content-Length: \(body.utf8.count)"]
      + ["Cache-Control: no-store", "Connection: close"] + fields
    bytes = Array((lines + ["", isBodyless ? "" : body]).joined(separator: "\r\n").utf8)
  }
}
