internal import Attache

/// The response of a ``MetricsServer`` to a request of HTTP/1.1.
struct MetricsResponse {
  /// The maximum length of a request's head, in bytes.
  static let maximumHead = 8 << 10

  private(set) var bytes: [UInt8]

  /// Responds to a head.
  ///
  /// - Parameters:
  ///   - head: all bytes so far.
  ///   - token: what the request must have; nil for nothing.
  /// - Returns: nil while the head is incomplete.
  init?(to head: [UInt8], _ token: BearerToken?, _ pages: any MetricsPages) {
    guard let end = Self.end(of: head), end <= Self.maximumHead else {
      guard head.count > Self.maximumHead else { return nil }
      self.init(431, "Request Header Fields Too Large", "too many fields, or more than \(Self.maximumHead) bytes\n")
      return
    }
    let lines = head[..<end].split(separator: UInt8(ascii: "\n")).map { $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0 }
    let words = lines.first?.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false) ?? []
    guard words.count == 3, words[2].starts(with: "HTTP/1.".utf8) else {
      self.init(400, "Bad Request", "not a request of HTTP/1.1\n")
      return
    }
    var target = words[1]
    if target.starts(with: "http://".utf8) { target = target.dropFirst(7).drop { $0 != UInt8(ascii: "/") } }
    let path = target.prefix { $0 != UInt8(ascii: "?") }
    let isBodyless = words[0].elementsEqual("HEAD".utf8)
    if let token, !lines.dropFirst().contains(where: { Self.value(of: "authorization", in: $0).map(token.admits) ?? false }) {
      self.init(
        401, "Unauthorized", "give the token of --metrics-bearer-file, as Authorization: Bearer TOKEN\n", field: "WWW-Authenticate: Bearer",
        isBodyless: isBodyless)
    } else if path.first != UInt8(ascii: "/") {
      self.init(400, "Bad Request", "not a path\n", isBodyless: isBodyless)
    } else if !["/metrics", "/livez", "/readyz"].contains(where: { path.elementsEqual($0.utf8) }) {
      self.init(404, "Not Found", "there are only /metrics, /livez and /readyz here\n", isBodyless: isBodyless)
    } else if !words[0].elementsEqual("GET".utf8) {
      self.init(405, "Method Not Allowed", "only GET\n", field: "Allow: GET", isBodyless: isBodyless)
    } else if path.elementsEqual("/metrics".utf8) {
      self.init(200, "OK", pages.text, type: MetricsText.contentType)
    } else {
      switch path.elementsEqual("/livez".utf8) ? pages.liveness : pages.readiness {
      case .good: self.init(200, "OK", "ok\n")
      case .bad(let what): self.init(503, "Service Unavailable", what + "\n")
      }
    }
  }

  /// - Parameters:
  ///   - type: the value of Content-Type.
  ///   - field: one more line.
  ///   - isBodyless: whether the body is left out, as for HEAD.
  private init(
    _ status: Int, _ reason: String, _ body: String, type: String = "text/plain; charset=utf-8", field: String? = nil,
    isBodyless: Bool = false
  ) {
    let lines = [
      "HTTP/1.1 \(status) \(reason)", "Content-Type: \(type)", "Content-Length: \(body.utf8.count)", "Cache-Control: no-store",
      "Connection: close", field,
    ]
    bytes = Array((lines.compactMap(\.self).joined(separator: "\r\n") + "\r\n\r\n" + (isBodyless ? "" : body)).utf8)
  }

  /// Returns the length of the head without its empty line; nil if it has none yet.
  private static func end(of head: [UInt8]) -> Int? {
    var start = 0
    while let feed = head[start...].firstIndex(of: UInt8(ascii: "\n")) {
      // An empty line, also one of RFC 9112's lenient kind, without a carriage return.
      if feed == start || feed == start + 1 && head[start] == UInt8(ascii: "\r") { return start }
      start = feed + 1
    }
    return nil
  }

  /// Returns the value of a field if the line has its name, which is in lower case.
  private static func value(of name: String, in line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")), line[..<colon].map(\.lowercasedASCII).elementsEqual(name.utf8) else {
      return nil
    }
    let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    var value = line[(colon + 1)...].drop(while: isBlank)
    while let last = value.last, isBlank(last) { value.removeLast() }
    return value
  }
}
