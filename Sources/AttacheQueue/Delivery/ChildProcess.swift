internal import Attache
internal import CLinux
internal import Glibc

/// A program that a sender runs. It has its own process group, so that a Ctrl-C at the terminal
/// reaches only attache. Only one thread may use it.
@safe
final class ChildProcess {
  private let process: StartedProcess
  /// Readable once the process has ended (pidfd_open(2)).
  let endDescriptor: Int32
  /// The non-blocking write end of its standard input; -1 once it is closed.
  private(set) var input: Int32
  /// The non-blocking read end of its standard output; -1 when it inherits ours.
  let output: Int32

  /// Starts a program.
  ///
  /// - Parameters:
  ///   - words: the program, which is searched for in PATH, and its arguments.
  ///   - variables: additional environment variables.
  ///   - readsOutput: whether its standard output is a pipe.
  /// - Throws: ``SystemError`` when the program cannot be started.
  init(_ words: [String], variables: [String: String] = [:], readsOutput: Bool) throws(SystemError) {
    var launch = ProcessLaunch(words)
    launch.environment = variables
    launch.inheritsEnvironment = true
    launch.output = readsOutput ? .pipe : .inherited
    launch.errors = .inherited
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
    if output >= 0 { close(output) }
    if endDescriptor >= 0 { close(endDescriptor) }
  }

  /// Writes to its standard input, as much as there is room for.
  ///
  /// - Returns: the number of bytes written; nil when the input is closed.
  func write(_ bytes: UnsafeRawBufferPointer) -> Int? {
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
  func read() -> [UInt8]? {
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

  func closeInput() {
    if input >= 0 { close(input) }
    input = -1
  }

  /// Sends a signal to the process group.
  ///
  /// - Returns: false when the system refuses, for example because the program runs as another
  ///   user.
  @discardableResult
  func signal(_ signal: Int32) -> Bool {
    process.send(signal)
  }

  /// How it ended; nil while it runs.
  var end: ProcessEnd? {
    process.end
  }

  /// Waits until it ends.
  ///
  /// - Returns: how it ended.
  @discardableResult
  func wait() -> ProcessEnd {
    process.wait()
  }
}

extension ProcessEnd {
  /// A description for messages.
  var text: String {
    switch self {
    case .status(let status): "ended with status \(status)"
    case .signal(let signal):
      "was killed by signal \(signal)" + (unsafe strsignal(signal).map { unsafe " (\(String(cString: $0)))" } ?? "")
    }
  }
}
