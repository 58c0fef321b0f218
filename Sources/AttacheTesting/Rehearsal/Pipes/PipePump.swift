internal import Glibc

/// Feeds the input of a filter and reads its outputs through pipes, on one thread. The filter is a
/// command or runs in this process.
struct PipePump {
  /// The rehearsal's ends of the pipes. The pump closes them.
  struct Ends: Sendable {
    var input: Int32
    var output: Int32
    /// The standard error; -1 for a filter in this process.
    var errors: Int32 = -1
  }

  private(set) var input: PipeFeed
  private(set) var output: PipeSink
  private(set) var errors: PipeSink

  init(_ ends: Ends, lines: [[UInt8]], endsWithLineFeed: Bool) {
    input = PipeFeed(ends.input, lines: lines, endsWithLineFeed: endsWithLineFeed)
    output = PipeSink(ends.output)
    errors = PipeSink(ends.errors, keeps: 16 << 10)
  }

  /// Writes as much as is possible without waiting.
  mutating func feed() {
    input.write()
  }

  /// Reads all available bytes.
  ///
  /// - Returns: the number of line feeds in the output.
  mutating func read() -> Int {
    _ = errors.read()
    return output.read()
  }

  /// Ends the input, even if it was not written completely.
  mutating func closeInput() {
    input.close()
  }

  /// Waits until something can be read or written.
  ///
  /// - Parameter milliseconds: the time to wait at most.
  func wait(atMost milliseconds: Int32) {
    var requests = [
      pollfd(fd: input.waitsFor, events: Int16(POLLOUT), revents: 0), pollfd(fd: output.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: errors.descriptor, events: Int16(POLLIN), revents: 0),
    ]
    _ = unsafe poll(&requests, nfds_t(requests.count), milliseconds)
  }

  mutating func close() {
    input.close()
    output.close()
    errors.close()
  }
}
