internal import Attache
internal import NIOCore

/// One thing to do while a response is sent; the steps of a response are done one after the other.
enum ResponseStep: Equatable {
  case wait(Duration)
  case pause(until: MonotonicInstant)
  /// Nothing happens until the path is released.
  case stall
  case head(ResponseHead)
  /// The status line and these fields; more follow.
  case openHead(ResponseHead)
  /// One more field of an open head.
  case field(HeaderField)
  /// The end of an open head.
  case headEnd(isChunked: Bool)
  /// Header fields without an end, after the status line.
  case endlessHead(ResponseHead)
  case body(ByteBuffer)
  case drip(ByteBuffer, bytesPerSecond: Int)
  /// The bytes over and over, without an end.
  case endlessBody(ByteBuffer)
  /// Bytes that are no HTTP.
  case raw(ByteBuffer)
  /// The end of the message; the connection stays open where `keepsAlive` says so and the request
  /// agrees.
  case end(keepsAlive: Bool)
  case reset
  case close
  /// The end of the connection without a farewell: over TLS without a close_notify, over HTTP/2 by
  /// a DATA frame that is too long.
  case cut
  /// Over HTTP/2 a GOAWAY that says ENHANCE_YOUR_CALM, and the close.
  case goAway
  /// A header block of HTTP/2 that has no good end.
  case flood(HeaderFlood)
  /// The end or the stop of the process that sent the request.
  case fetcher(FetcherFault)
}

/// The status line and the fields of a response.
struct ResponseHead: Equatable {
  var status: Int
  /// The minor version of HTTP/1.
  var minorVersion = 1
  var fields: [HeaderField]
  /// Whether the body is framed in chunks.
  var isChunked = false
}
