internal import NIOCore

/// The destination of a response's moves: an HTTP/1 connection or one HTTP/2 stream. Use it on its
/// event loop only.
protocol ResponseWire: AnyObject {
  var eventLoop: any EventLoop { get }
  /// The connection; nil when an HTTP/2 stream has lost it.
  var connection: (any Channel)? { get }
  /// Writes a header.
  ///
  /// - Parameters:
  ///   - isOpen: whether more fields follow, as raw bytes; over HTTP/1 only.
  ///   - flushes: false when more bytes follow immediately and flush.
  func write(_ head: ResponseScript.Head, isOpen: Bool, flushes: Bool) -> EventLoopFuture<Void>
  /// Writes bytes without any framing; over HTTP/1 only.
  func write(raw bytes: ByteBuffer) -> EventLoopFuture<Void>
  func write(body bytes: ByteBuffer) -> EventLoopFuture<Void>
  func end() -> EventLoopFuture<Void>
  /// Sends TCP RST or RST_STREAM.
  func reset()
  /// Closes the connection cleanly.
  func close()
  /// Ends the connection abruptly: without TLS's close_notify, or over HTTP/2 with a DATA frame
  /// that is too long.
  func cut()
  /// Closes the connection; over HTTP/2, it first sends a GOAWAY with ENHANCE_YOUR_CALM.
  func goAway()
  /// Writes the first or a later frame of an HTTP/2 header block that is hostile or never ends.
  func write(_ flood: HeaderFlood, isFirst: Bool) -> EventLoopFuture<Void>
}
