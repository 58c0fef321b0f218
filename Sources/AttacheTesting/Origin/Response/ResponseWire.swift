internal import NIOCore

/// What the steps of a response are written to: an HTTP/1 connection or one HTTP/2 stream. Used on
/// its event loop only.
protocol ResponseWire: AnyObject {
  var eventLoop: any EventLoop { get }
  /// nil when an HTTP/2 stream has lost it.
  var connection: (any Channel)? { get }
  /// - Parameter flushes: false when bytes that flush follow at once.
  func write(_ head: ResponseHead, flushes: Bool) -> EventLoopFuture<Void>
  /// Writes a header that is never completed: the status line the first time, then these fields.
  func write(unfinished head: ResponseHead, isFirst: Bool) -> EventLoopFuture<Void>
  /// Ends a header that was begun so.
  func endHead(isChunked: Bool) -> EventLoopFuture<Void>
  func write(raw bytes: ByteBuffer) -> EventLoopFuture<Void>
  func write(body bytes: ByteBuffer) -> EventLoopFuture<Void>
  func end() -> EventLoopFuture<Void>
  /// TCP RST, or RST_STREAM.
  func reset()
  /// Closes the connection in good order.
  func close()
  /// Ends the connection without a farewell: without TLS's close_notify, or over HTTP/2 by a DATA
  /// frame that is too long.
  func cut()
  /// Closes it with a GOAWAY that says ENHANCE_YOUR_CALM, where there is such a thing.
  func goAway()
  /// Writes the first frame of a header block of HTTP/2 that has no good end, or one that follows.
  func write(_ flood: HeaderFlood, isFirst: Bool) -> EventLoopFuture<Void>
}
