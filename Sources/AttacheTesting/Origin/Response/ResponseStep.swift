internal import Attache
internal import NIOCore

/// A step of sending a response. The steps run one after another.
enum ResponseStep: Equatable {
  case wait(Duration)
  case pause(until: MonotonicInstant)
  /// Waits until the path is released.
  case stall
  case head(ResponseHead)
  /// The status line and these fields; more fields follow.
  case openHead(ResponseHead)
  /// An additional field of an open head.
  case field(HeaderField)
  /// The end of an open head.
  case headEnd(isChunked: Bool)
  /// The status line, then header fields without end.
  case endlessHead(ResponseHead)
  case body(ByteBuffer)
  case drip(ByteBuffer, bytesPerSecond: Int)
  /// The bytes repeated without end.
  case endlessBody(ByteBuffer)
  /// Bytes that are not HTTP.
  case raw(ByteBuffer)
  /// The end of the message. The connection stays open if both `keepsAlive` and the request allow
  /// it.
  case end(keepsAlive: Bool)
  case reset
  case close
  /// An abrupt end of the connection: over TLS without a close_notify, over HTTP/2 by a DATA frame
  /// that is too long.
  case cut
  /// Over HTTP/2, a GOAWAY with ENHANCE_YOUR_CALM, then a close.
  case goAway
  /// An HTTP/2 header block that is hostile or never ends.
  case flood(HeaderFlood)
  /// Kills or stops the process that sent the request.
  case fetcher(FetcherFault)
}

/// The status line and the fields of a response.
struct ResponseHead: Equatable {
  var status: Int
  /// The minor version of HTTP/1.
  var minorVersion = 1
  var fields: [HeaderField]
  /// Whether the body uses chunked framing.
  var isChunked = false
}
