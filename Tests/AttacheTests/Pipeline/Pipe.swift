import Glibc
import Synchronization

@testable import Attache

/// A pipe whose ends are closed automatically, for tests that run parts of the pipeline on real
/// descriptors.
///
/// `@unchecked Sendable`: each end belongs to one thread.
final class Pipe: @unchecked Sendable {
  // Only the thread that uses an end closes it.
  private(set) var input: Int32
  private(set) var output: Int32

  /// Makes a FIFO and unlinks it. Unlike `pipe`, `open` marks both ends close-on-exec from the
  /// start, so no child process of another test keeps them open.
  ///
  /// - Parameter isBlocking: whether a write waits while the pipe is full.
  init(isBlocking: Bool = true) throws {
    let path = "/tmp/attache-\(getpid())-\(UInt64.random(in: 0...UInt64.max))"
    _ = try SystemError.check("mkfifo", unsafe mkfifo(path, 0o600))
    defer { unsafe unlink(path) }
    input = try SystemError.check("open", unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK))
    output = try SystemError.check("open", unsafe open(path, O_WRONLY | O_CLOEXEC | (isBlocking ? 0 : O_NONBLOCK)))
    _ = try SystemError.check("fcntl", fcntl(input, F_SETFL, 0))
  }

  deinit {
    closeInput()
    closeOutput()
  }

  func closeInput() {
    if input >= 0 { close(input) }
    input = -1
  }

  func closeOutput() {
    if output >= 0 { close(output) }
    output = -1
  }

  /// A second descriptor of the write end.
  func duplicateOutput() -> Int32 {
    fcntl(output, F_DUPFD_CLOEXEC, 0)
  }

  /// Whether everything written has been read.
  var isEmpty: Bool {
    var request = pollfd(fd: input, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&request, 1, 0) == 0
  }

  func waitUntilReadable() {
    var request = pollfd(fd: input, events: Int16(POLLIN), revents: 0)
    while unsafe poll(&request, 1, -1) != 1 {}
  }

  /// Writes all bytes; waits while the pipe is full.
  func write(_ bytes: some Collection<UInt8>) {
    var rest = Array(bytes)[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(output, $0.baseAddress, $0.count) }
      if count > 0 { rest = rest.dropFirst(count) }
    }
  }

  /// Reads until the writer has closed its end.
  func readAll(chunk: Int = 1 << 16) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: chunk)
    while true {
      let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(input, $0.baseAddress, $0.count) }
      if count > 0 {
        bytes += buffer[..<count]
      } else if count == 0 || (errno != EAGAIN && errno != EINTR) {
        return bytes
      } else {
        sched_yield()
      }
    }
  }
}

/// Reads a pipe to its end on its own thread.
final class PipeContents: Sendable {
  private let bytes = Mutex<[UInt8]>([])
  private let thread = Mutex<Thread?>(nil)

  init(of pipe: Pipe) throws {
    let thread = try Thread.start("contents") { [self] in
      let all = pipe.readAll()
      bytes.withLock { $0 = all }
    }
    self.thread.withLock { $0 = thread }
  }

  /// Everything that was written, once the last writer has closed its end.
  func wait() -> [UInt8] {
    thread.withLock { $0.take() }?.join()
    return bytes.withLock { $0 }
  }
}

extension Segment {
  var array: [UInt8] { unsafe withUnsafeBytes { unsafe Array($0) } }

  init(_ text: String) {
    self.init(copying: Array(text.utf8))
  }
}
