internal import CLinux
internal import Glibc

/// One end of the connection between a host and a process that works for it: a fetcher or a service
/// extension. It gathers frames before they are sent, and buffers received bytes until they form a
/// frame. Never blocks.
///
/// A frame is the length of its content in four bytes, and the content, which begins with its kind in
/// one byte. All numbers are in this machine's byte order, because both ends run on it.
struct FrameStream: ~Copyable {
  /// Why the connection is unusable.
  enum Fault: Error {
    /// The other end has closed the connection or is gone.
    case ended
    case invalid
  }

  /// The size of a frame's length, in bytes.
  static let headBytes = 4

  private let stream: any ByteStream
  private let maximumFrame: Int
  private var input = [UInt8](repeating: 0, count: 64 << 10)
  private var filled = 0
  private var output = UnsentBytes()
  /// Whether the loop waits for room to send; nil while it does not watch the connection.
  private var awaitsRoom: Bool?

  /// - Parameter maximumFrame: the longest frame that the other end may send, in bytes.
  init(_ stream: any ByteStream, maximumFrame: Int) {
    (self.stream, self.maximumFrame) = (stream, maximumFrame)
  }

  /// What a loop watches.
  var descriptor: Int32 { stream.descriptor }

  /// The number of bytes that are not sent yet.
  var unsentBytes: Int { output.count }

  /// What a loop must watch the connection for; nil when it does so already.
  mutating func changedInterest() -> Readiness? {
    let needsRoom = unsentBytes > 0
    guard needsRoom != awaitsRoom else { return nil }
    awaitsRoom = needsRoom
    return needsRoom ? [.readable, .writable] : .readable
  }

  /// Gathers a frame to send.
  ///
  /// - Parameter content: appends the content.
  mutating func gather(_ content: (inout [UInt8]) -> Void) {
    output.append { Self.append(to: &$0, content) }
  }

  /// Appends a frame.
  static func append(to bytes: inout [UInt8], _ content: (inout [UInt8]) -> Void) {
    let start = bytes.count
    bytes.put(UInt32(0))
    content(&bytes)
    bytes.put(UInt32(bytes.count - start - headBytes), at: start)
  }

  /// Sends what has been gathered, as far as the other end accepts it at the moment.
  mutating func flush() throws(Fault) {
    guard unsafe output.flush({ unsafe stream.write($0) }) else { throw .ended }
  }

  /// Reads once, and passes each complete frame to `take`, without its length.
  ///
  /// - Returns: whether bytes were read.
  /// - Throws: ``Fault`` when the connection has ended, when a frame is too long, or when `take`
  ///   throws.
  @discardableResult
  mutating func receive(_ take: (ArraySlice<UInt8>) throws(Fault) -> Void) throws(Fault) -> Bool {
    let count = unsafe input.withUnsafeMutableBytes { unsafe stream.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[filled...])) }
    guard let count else { throw .ended }
    guard count > 0 else { return false }
    filled += count
    var start = 0
    while filled - start >= Self.headBytes {
      let length = Int(unsafe input.withUnsafeBytes { unsafe $0.loadUnaligned(fromByteOffset: start, as: UInt32.self) })
      guard length <= maximumFrame else { throw .invalid }
      let end = start + Self.headBytes + length
      guard end <= filled else { break }
      try take(input[start + Self.headBytes..<end])
      start = end
    }
    if start > 0 {
      unsafe input.withUnsafeMutableBytes { bytes in
        guard let first = bytes.baseAddress else { return }
        unsafe memmove(first, first + start, filled - start)
      }
      filled -= start
    }
    if filled == input.count { input += [UInt8](repeating: 0, count: min(input.count, maximumFrame + Self.headBytes)) }
    return true
  }
}

extension [UInt8] {
  /// Appends a number, or a tuple of numbers, in this machine's byte order.
  mutating func put<Value: BitwiseCopyable>(_ value: Value) {
    unsafe Swift.withUnsafeBytes(of: value) { unsafe append(contentsOf: $0) }
  }

  /// Overwrites bytes with a number in this machine's byte order.
  mutating func put<Value: BitwiseCopyable>(_ value: Value, at place: Int) {
    unsafe withUnsafeMutableBytes { unsafe $0.storeBytes(of: value, toByteOffset: place, as: Value.self) }
  }
}

/// Reads numbers in this machine's byte order.
struct ByteReader {
  private(set) var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) {
    rest = bytes[...]
  }

  init(_ bytes: ArraySlice<UInt8>) {
    rest = bytes
  }

  /// Returns the next number, or nil when too few bytes are left.
  mutating func read<Value: BitwiseCopyable>(_ type: Value.Type) -> Value? {
    let count = MemoryLayout<Value>.size
    guard rest.count >= count else { return nil }
    defer { rest = rest.dropFirst(count) }
    return unsafe rest.withUnsafeBytes { unsafe $0.loadUnaligned(as: type) }
  }
}

// The contents of frames, which a stranger may have sent.
extension ByteReader {
  /// Returns the next number.
  mutating func next<Value: BitwiseCopyable>(_ type: Value.Type) throws(FrameStream.Fault) -> Value {
    guard let value = read(type) else { throw .invalid }
    return value
  }

  /// Returns the next byte as a truth value.
  mutating func flag() throws(FrameStream.Fault) -> Bool {
    let byte = try next(UInt8.self)
    guard byte < 2 else { throw .invalid }
    return byte == 1
  }

  /// Returns the next bytes as UTF-8.
  mutating func text(of count: Int) throws(FrameStream.Fault) -> String {
    guard let text = String(validating: rest.prefix(count), as: UTF8.self), rest.count >= count else { throw .invalid }
    rest = rest.dropFirst(count)
    return text
  }

  /// Returns the remaining bytes as UTF-8.
  mutating func text(atMost maximum: Int) throws(FrameStream.Fault) -> String {
    guard rest.count <= maximum else { throw .invalid }
    return try text(of: rest.count)
  }

  func end() throws(FrameStream.Fault) {
    guard rest.isEmpty else { throw .invalid }
  }
}

/// One end of a connection that carries bytes in order, made by a ``Machine``. Never blocks. It is
/// closed when it is released.
package protocol ByteStream: AnyObject, Sendable {
  /// What a loop on the same machine watches.
  var descriptor: Int32 { get }
  /// Sends bytes.
  ///
  /// - Returns: how many the other end takes at the moment; nil when the connection has ended.
  func write(_ bytes: UnsafeRawBufferPointer) -> Int?
  /// Receives bytes into a buffer, which must not be empty.
  ///
  /// - Returns: how many there were, 0 for none at the moment; nil when the connection has ended.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> Int?
}

/// One end of a connection between two threads or processes: a stream socket.
package final class SocketStream: ByteStream {
  package let descriptor: Int32

  /// - Parameter descriptor: a non-blocking stream socket. This object closes it.
  init(_ descriptor: Int32) {
    self.descriptor = descriptor
  }

  deinit {
    close(descriptor)
  }

  /// Creates two connected non-blocking sockets that are closed on exec.
  static func pair() throws(SystemError) -> (Int32, Int32) {
    var ends: [Int32] = [-1, -1]
    _ = try SystemError.check("socketpair", unsafe linux_stream_pair(&ends))
    return (ends[0], ends[1])
  }

  package func write(_ bytes: UnsafeRawBufferPointer) -> Int? {
    while true {
      let count = unsafe linux_send(descriptor, bytes.baseAddress, bytes.count)
      if count >= 0 { return count }
      if errno != EINTR { return errno == EAGAIN || errno == ENOBUFS ? 0 : nil }
    }
  }

  package func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
    let count = unsafe linux_receive(descriptor, buffer.baseAddress, buffer.count)
    if count > 0 { return count }
    return count < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : nil
  }
}

/// Bytes for the other end of a connection or a pipe, which takes them little by little.
package struct UnsentBytes {
  private var bytes: [UInt8] = []
  private var sent = 0

  package init() {}

  package var count: Int { bytes.count - sent }

  package mutating func append(_ body: (inout [UInt8]) -> Void) {
    body(&bytes)
  }

  /// Sends as much as the other end takes at the moment.
  ///
  /// - Parameter write: sends bytes. Returns how many were taken; nil when none ever will be.
  /// - Returns: false when `write` returned nil.
  package mutating func flush(_ write: (UnsafeRawBufferPointer) -> Int?) -> Bool {
    while sent < bytes.count {
      guard let count = unsafe bytes.withUnsafeBytes({ unsafe write(UnsafeRawBufferPointer(rebasing: $0[sent...])) }) else { return false }
      sent += count
      // Sent bytes are removed even when there are always more to send.
      if sent >= 1 << 16, sent * 2 >= bytes.count {
        bytes.removeFirst(sent)
        sent = 0
      }
      if count == 0 { return true }
    }
    bytes.removeAll(keepingCapacity: bytes.capacity <= 1 << 18)
    sent = 0
    return true
  }
}
