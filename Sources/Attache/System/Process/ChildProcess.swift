internal import CLinux
internal import Glibc

/// A child process with the pipes to its standard input and from its standard output. Only one thread
/// may use it.
@safe
package final class ChildProcess {
  let process: StartedProcess
  /// Readable once the process has ended (pidfd_open(2)).
  package let endDescriptor: Int32
  /// The non-blocking write end of its standard input; -1 once it is closed, or without a pipe.
  package private(set) var input: Int32
  /// The non-blocking read end of its standard output; -1 once it is closed, or without a pipe.
  package private(set) var output: Int32

  /// Starts a program whose standard error is no pipe.
  ///
  /// - Throws: ``SystemError`` when the program cannot be started.
  package init(_ launch: ProcessLaunch) throws(SystemError) {
    let (process, pipes) = try launch.start()
    self.process = process
    (input, output) = (pipes.input, pipes.output)
    endDescriptor = linux_pidfd_open(process.identifier)
    // Only Linux before 5.3 has no pidfd_open(2).
    guard endDescriptor >= 0 else {
      let error = SystemError(call: "pidfd_open", number: errno)
      signal(SIGKILL)
      wait()
      throw error
    }
  }

  deinit {
    closeInput()
    closeOutput()
    if endDescriptor >= 0 { close(endDescriptor) }
  }

  /// Writes to its standard input, as much as there is room for.
  ///
  /// - Returns: the number of bytes written; nil when the input is closed.
  package func write(_ bytes: UnsafeRawBufferPointer) -> Int? {
    guard input >= 0 else { return nil }
    while true {
      let count = unsafe Glibc.write(input, bytes.baseAddress, bytes.count)
      if count >= 0 { return count }
      if errno == EAGAIN { return 0 }
      guard errno == EINTR else { return nil }
    }
  }

  /// Reads from its standard output.
  ///
  /// - Returns: the bytes read; empty when there are none now, nil at the end.
  package func read() -> [UInt8]? {
    guard output >= 0 else { return nil }
    return unsafe withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 1) { buffer in
      while true {
        let count = unsafe Glibc.read(output, buffer.baseAddress, buffer.count)
        if count > 0 { return unsafe Array(buffer.prefix(count)) }
        if count == 0 { return nil }
        if errno == EAGAIN { return [] }
        guard errno == EINTR else { return nil }
      }
    }
  }

  package func closeInput() {
    if input >= 0 { close(input) }
    input = -1
  }

  func closeOutput() {
    if output >= 0 { close(output) }
    output = -1
  }

  /// Sends a signal to the process group.
  ///
  /// - Returns: false when the system refuses, for example because the program runs as another
  ///   user.
  @discardableResult
  package func signal(_ signal: Int32) -> Bool {
    process.send(signal)
  }

  /// How it ended; nil while it runs.
  package var end: ProcessEnd? {
    process.end
  }

  /// Waits until it ends.
  ///
  /// - Returns: how it ended.
  @discardableResult
  package func wait() -> ProcessEnd {
    process.wait()
  }

  /// Waits until it ends, or until an instant. The end of a process that another one traces may still
  /// be unknown then.
  func wait(until instant: MonotonicInstant) {
    while linux_wait_readable(endDescriptor, Int(instant.nanosecondTimeout ?? .max / 2)) == 0, .now < instant {}
  }
}
