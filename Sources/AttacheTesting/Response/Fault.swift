/// A fault of an origin, with its value.
///
/// A path has an array of faults. They are applied in order to one response, and they combine where
/// that is possible: `[.delay(.seconds(1)), .status(503), .drip(bytesPerSecond: 100)]` waits and
/// then answers 503 slowly. Where two faults set the same thing (two statuses), the later one
/// applies. `afterBytes` counts body bytes before any chunk framing; a count beyond the body means
/// its end.
///
/// Over HTTP/2, a reset is a `RST_STREAM`, an early close closes the whole connection, and chunks
/// are DATA frames. A fault without an HTTP/2 counterpart (see `worksOverHTTP2`) is answered with
/// 501.
public indirect enum Fault: Sendable, Hashable {
  /// Waits before the first byte of the response.
  case delay(Duration)
  /// Sends nothing until the path is released.
  case stallBeforeHeaders
  /// Sends the headers and this many bytes of the body, then nothing until the path is released.
  case stall(afterBytes: Int)
  /// Sends the body at this rate, in at most ten pieces per second.
  case drip(bytesPerSecond: Int)
  /// Resets the connection (TCP RST) before any byte of the response.
  case resetBeforeHeaders
  /// Resets the connection (TCP RST) after this many bytes of the body. The count is exact up to
  /// the receiver's socket buffer (64 KB at least).
  case reset(afterBytes: Int)
  /// Closes the connection cleanly before any byte of the response.
  case closeBeforeHeaders
  /// Closes the connection cleanly after this many bytes of the body.
  case closeEarly(afterBytes: Int)
  /// Declares a `Content-Length` that is wrong by this many bytes and still sends the whole body.
  /// If the length is too long (above zero), the connection then closes.
  case contentLength(offBy: Int)
  /// Sends the body repeatedly in chunks, without end.
  case endlessChunks
  /// Answers with this status, and with the body where the status allows one; `retryAfter` is in
  /// seconds.
  case status(Int, retryAfter: Int? = nil)
  /// Answers with a redirect to this `Location`, without a body.
  case redirect(to: String, status: Int = 302)
  /// Answers with this many 302 redirects to the same path, each with a different query, before the
  /// body.
  case redirectChain(hops: Int)
  /// Redirects to itself forever.
  case redirectLoop
  /// Sends this `Content-Type`, regardless of the bytes.
  case contentType(String)
  /// Sends the body gzip-encoded even if the client did not request it.
  case gzip
  /// Sends this entity tag. Answers 304 when `If-None-Match` matches it, and 206 to a `Range`
  /// (unless `If-Range` names another tag).
  case etag(String)
  /// Sends an additional header field.
  case header(name: String, value: String)
  /// Sends this many header fields of about 100 bytes each before the response's own fields.
  case headerFlood(count: Int)
  /// Sends header fields without end.
  case endlessHeaders
  /// Answers with the banner of an SSH server and closes the connection.
  case notHTTP
  /// Sends the body in chunks.
  case chunked
  /// Sends neither `Content-Length` nor chunks; the body ends when the connection closes.
  case noContentLength
  /// Sends two contradictory `Content-Length` fields: the first is one byte too long, the second is
  /// right. libcurl uses the second.
  case twoContentLengths
  /// Sends `Connection: close` and closes the connection.
  case connectionClose
  /// Answers as HTTP/1.0 and closes the connection.
  case http10
  /// Applies a fault only to the first requests of the path, up to this count.
  case times(Int, Fault)
  /// Applies a fault to all requests of the path after the first ones, up to this count.
  case after(Int, Fault)

  /// Applies a fault only to the first request of the path.
  public static func once(_ fault: Fault) -> Fault { .times(1, fault) }

  /// Declares a `Content-Length` that is this many bytes too long, and closes the connection after
  /// the body.
  public static func contentLength(tooLongBy count: Int) -> Fault { .contentLength(offBy: count) }

  /// Declares a `Content-Length` that is this many bytes too short, and sends the whole body.
  public static func contentLength(tooShortBy count: Int) -> Fault { .contentLength(offBy: -count) }

  /// Whether the fault is possible over HTTP/2. The other faults need HTTP/1 framing.
  public var worksOverHTTP2: Bool {
    switch self {
    case .headerFlood, .endlessHeaders, .notHTTP, .connectionClose, .http10: false
    case .delay, .stallBeforeHeaders, .stall, .drip, .resetBeforeHeaders, .reset, .closeBeforeHeaders, .closeEarly, .contentLength,
      .endlessChunks, .status, .redirect, .redirectChain, .redirectLoop, .contentType, .gzip, .etag, .header, .chunked, .noContentLength,
      .twoContentLengths:
      true
    case .times(_, let fault), .after(_, let fault): fault.worksOverHTTP2
    }
  }

  /// Returns the fault if it applies at this turn (1 is the path's first request), else nil.
  func active(turn: Int) -> Fault? {
    if case .times(let count, let fault) = self { return turn <= count ? fault.active(turn: turn) : nil }
    if case .after(let count, let fault) = self { return turn > count ? fault.active(turn: turn) : nil }
    return self
  }
}
