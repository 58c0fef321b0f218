import Attache
import Glibc

/// A connection to the ``MetricsServer``, for one request. The descriptor is closed with the value.
struct MetricsConnection {
  private enum Phase {
    case reading, writing
    /// The response is sent, and the client has not closed the connection. Closing it before would
    /// discard the response if there are unread bytes.
    case waiting
    case over
  }

  /// How long a connection may take in all: Prometheus' default scrape_timeout.
  private static let longest = Duration.seconds(10)
  /// The most bytes of a request's head.
  private static let maximumHead = 8 << 10

  private let owned: OwnedDescriptor
  /// When the connection is ended.
  let end = MonotonicInstant.now.advanced(by: longest)
  private var phase = Phase.reading
  private var head: [UInt8] = []
  private var response: ArraySlice<UInt8> = []

  /// - Parameter descriptor: belongs to this value, which makes it non-blocking.
  init(_ descriptor: Int32) {
    owned = OwnedDescriptor(descriptor)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
  }

  var descriptor: Int32 { owned.number }
  var isOver: Bool { phase == .over }
  var isAnswered: Bool { phase != .reading }
  /// What to wait for, as poll(2) takes it.
  var events: Int16 { Int16(phase == .writing ? POLLOUT : POLLIN) }

  /// Reads and writes what is possible without waiting.
  ///
  /// - Parameter answer: returns the response to the request.
  mutating func advance(_ answer: (MetricsRequest) -> MetricsResponse) {
    if phase == .reading { read(answer) }
    if phase == .writing { write() }
    if phase == .waiting { wait() }
  }

  private mutating func read(_ answer: (MetricsRequest) -> MetricsResponse) {
    switch receive() {
    case nil: phase = .over
    case .some(let bytes) where bytes.isEmpty: return
    case .some(let bytes):
      head += bytes
      if let end = MetricsRequest.endOfHead(head) {
        respond(MetricsRequest(head: head[..<end]).map(answer) ?? MetricsResponse(400, "not a request of HTTP/1.1\n"))
      } else if head.count > Self.maximumHead {
        respond(MetricsResponse(431, "more than \(Self.maximumHead) bytes of fields\n"))
      }
    }
  }

  private mutating func respond(_ answer: MetricsResponse) {
    response = answer.bytes[...]
    head = []
    phase = .writing
  }

  private mutating func write() {
    while !response.isEmpty {
      let count = unsafe response.withUnsafeBytes { unsafe send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count >= 0 else {
        if errno != EAGAIN, errno != EINTR { phase = .over }
        return
      }
      response = response.dropFirst(count)
    }
    shutdown(descriptor, Int32(SHUT_WR))
    phase = .waiting
  }

  private mutating func wait() {
    if receive() == nil { phase = .over }
  }

  /// - Returns: the bytes that have arrived; nil at the end.
  private func receive() -> [UInt8]? {
    unsafe withUnsafeTemporaryAllocation(byteCount: 8 << 10, alignment: 1) { buffer in
      let count = unsafe recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
      if count > 0 { return unsafe Array(buffer.prefix(count)) }
      return count < 0 && (errno == EAGAIN || errno == EINTR) ? [] : nil
    }
  }
}

/// A descriptor that is closed with this object.
private final class OwnedDescriptor: Sendable {
  let number: Int32

  init(_ number: Int32) {
    self.number = number
  }

  deinit {
    close(number)
  }
}
