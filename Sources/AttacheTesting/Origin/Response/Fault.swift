/// One misbehaviour of an origin, with its unit.
///
/// A path carries an array of faults. They are applied in order to one response, and combine
/// wherever that means something: `[.delay(.seconds(1)), .status(503), .drip(bytesPerSecond: 100)]`
/// waits, then answers 503, slowly. Where two say the same thing (two statuses), the later one
/// holds. `afterBytes` counts body bytes, before any chunk framing; a count beyond the body means
/// its end.
///
/// Over HTTP/2 a reset is a `RST_STREAM`, an early close closes the whole connection, and chunks
/// are DATA frames. What has no counterpart there (see `worksOverHTTP2`) is answered with 501.
public indirect enum Fault: Sendable, Hashable {
  /// Waits before the first byte of the response.
  case delay(Duration)
  /// Sends nothing until the path is released.
  case stallBeforeHeaders
  /// Sends the headers and so many bytes of the body, then nothing until the path is released.
  case stall(afterBytes: Int)
  /// Sends the body at this rate, at most ten pieces a second.
  case drip(bytesPerSecond: Int)
  /// Breaks the connection with a TCP RST before any byte of the response.
  case resetBeforeHeaders
  /// Breaks the connection with a TCP RST after so many bytes of the body; exact up to the
  /// receiver's socket buffer (64 KB at least).
  case reset(afterBytes: Int)
  /// Closes the connection in good order, before any byte of the response.
  case closeBeforeHeaders
  /// Closes the connection in good order after so many bytes of the body.
  case closeEarly(afterBytes: Int)
  /// Declares a `Content-Length` that is wrong by so many bytes and sends the whole body all the
  /// same; after one that is too long (above zero) the connection closes.
  case contentLength(offBy: Int)
  /// Sends the body over and over in chunks, without an end.
  case endlessChunks
  /// Answers with this status, and with the body all the same where the status allows one;
  /// `retryAfter` is in seconds.
  case status(Int, retryAfter: Int? = nil)
  /// Answers with a redirect to this `Location` and without a body.
  case redirect(to: String, status: Int = 302)
  /// Answers with so many 302 redirects to the same path (told apart by the query) before the body
  /// comes.
  case redirectChain(hops: Int)
  /// Redirects to itself for ever.
  case redirectLoop
  /// Sends this `Content-Type`, whatever the bytes are.
  case contentType(String)
  /// Sends the body gzip-encoded, although nobody asked.
  case gzip
  /// Sends this entity tag, answers 304 to its `If-None-Match` and 206 to a `Range` (unless
  /// `If-Range` names another tag).
  case etag(String)
  /// Sends one more header field.
  case header(name: String, value: String)
  /// Sends so many header fields of about 100 bytes each before the response's own.
  case headerFlood(count: Int)
  /// Sends header fields without an end.
  case endlessHeaders
  /// Answers with the banner of an SSH server and closes.
  case notHTTP
  /// Sends the body in chunks.
  case chunked
  /// Sends neither `Content-Length` nor chunks: the end of the connection ends the body.
  case noContentLength
  /// Sends two `Content-Length` fields that contradict each other: one byte too many, then the
  /// right one, which libcurl believes.
  case twoContentLengths
  /// Says `Connection: close`, and closes.
  case connectionClose
  /// Answers as HTTP/1.0, and closes.
  case http10
  /// Applies a fault to the first so many requests of the path only.
  case times(Int, Fault)
  /// Applies a fault to all but the first so many requests of the path.
  case after(Int, Fault)

  /// Applies a fault to the first request of the path only.
  public static func once(_ fault: Fault) -> Fault { .times(1, fault) }

  /// Declares a `Content-Length` that is so many bytes too long, and closes after the body.
  public static func contentLength(tooLongBy count: Int) -> Fault { .contentLength(offBy: count) }

  /// Declares a `Content-Length` that is so many bytes too short, and sends the whole body.
  public static func contentLength(tooShortBy count: Int) -> Fault { .contentLength(offBy: -count) }

  /// Whether the fault can be shown over HTTP/2; the others need the bytes of HTTP/1.
  public var worksOverHTTP2: Bool {
    switch self {
    case .headerFlood, .endlessHeaders, .notHTTP, .connectionClose, .http10: false
    case .times(_, let fault), .after(_, let fault): fault.worksOverHTTP2
    default: true
    }
  }

  /// The fault itself if it is in force at this turn (1 is the path's first request), else nil.
  func active(turn: Int) -> Fault? {
    switch self {
    case .times(let count, let fault): turn <= count ? fault.active(turn: turn) : nil
    case .after(let count, let fault): turn > count ? fault.active(turn: turn) : nil
    default: self
    }
  }
}
