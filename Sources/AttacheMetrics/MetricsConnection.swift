internal import Attache
internal import Glibc

/// A connection to the ``MetricsServer``, for one request. Only the loop's thread uses it.
final class MetricsConnection {
  /// How long a connection may take in all: Prometheus' default scrape_timeout.
  private static let longest = Duration.seconds(10)

  private let descriptor: Int32
  private let loop: EventLoop
  private let respond: ([UInt8]) -> MetricsResponse?
  private var head: [UInt8] = []
  private var unsent: ArraySlice<UInt8> = []
  private var end: TimerEntry?
  private(set) var isAnswered = false
  private(set) var isOver = false
  /// Whether the response is sent.
  var isServed: Bool { isAnswered && unsent.isEmpty }

  /// - Parameters:
  ///   - descriptor: belongs to the connection.
  ///   - respond: responds to the bytes so far; nil while they are no complete head.
  init(_ descriptor: Int32, _ loop: EventLoop, _ respond: @escaping ([UInt8]) -> MetricsResponse?) {
    (self.descriptor, self.loop, self.respond) = (descriptor, loop, respond)
    end = loop.schedule(at: loop.now.advanced(by: Self.longest)) { [weak self] in self?.close() }
    loop.watch(descriptor, for: .readable) { [weak self] _, _ in self?.advance() }
  }

  func close() {
    guard !isOver else { return }
    isOver = true
    if let end { loop.cancel(end) }
    loop.unwatch(descriptor)
    _ = Glibc.close(descriptor)
  }

  private func advance() {
    read()
    if !isOver, !isAnswered, let response = respond(head) {
      isAnswered = true
      unsent = response.bytes[...]
    }
    if !isOver, isAnswered { write() }
  }

  /// Reads what has come. After the response, it only waits for the client's end: closing before would
  /// discard the response if there are unread bytes.
  private func read() {
    // Once a turn of the loop: a client that sends without end must not keep the others waiting.
    var buffer = [UInt8](repeating: 0, count: MetricsResponse.maximumHead + 1)
    let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
    if count < 0, errno == EINTR || errno == EAGAIN { return }
    guard count > 0 else { return close() }
    if !isAnswered { head += buffer[..<count] }
  }

  private func write() {
    while !unsent.isEmpty {
      let count = unsafe unsent.withUnsafeBytes { unsafe send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EAGAIN { return loop.watch(descriptor, for: [.readable, .writable]) { [weak self] _, _ in self?.advance() } }
      guard count > 0 else { return close() }
      unsent.removeFirst(count)
      if unsent.isEmpty { shutdown(descriptor, Int32(SHUT_WR)) }
    }
    loop.watch(descriptor, for: .readable) { [weak self] _, _ in self?.advance() }
  }
}
