internal import Attache
internal import CLinux
internal import Glibc

/// A program that a sender runs. It has its own process group, so that a Ctrl-C at the terminal
/// reaches only attache. Only one thread may use it.
@safe
final class ChildProcess {
  /// How a process ended.
  enum End: Equatable {
    case exited(status: Int32)
    case killed(signal: Int32)

    /// A description for messages.
    var text: String {
      switch self {
      case .exited(let status): "ended with status \(status)"
      case .killed(let signal):
        "was killed by signal \(signal)" + (unsafe strsignal(signal).map { unsafe " (\(String(cString: $0)))" } ?? "")
      }
    }
  }

  let identifier: pid_t
  /// Readable once the process has ended (pidfd_open(2)).
  let endDescriptor: Int32
  /// The non-blocking write end of its standard input; -1 once it is closed.
  private(set) var input: Int32
  /// The non-blocking read end of its standard output; -1 when it inherits ours.
  let output: Int32
  private(set) var end: End?

  /// Starts a program.
  ///
  /// - Parameters:
  ///   - words: the program, which is searched for in PATH, and its arguments.
  ///   - variables: additional environment variables, as `NAME=VALUE`.
  ///   - readsOutput: whether its standard output is a pipe.
  /// - Throws: ``SystemError`` when the program cannot be started.
  init(_ words: [String], variables: [String] = [], readsOutput: Bool) throws(SystemError) {
    var open: [Int32] = []
    do throws(SystemError) {
      open += try Self.pipe()
      if readsOutput { open += try Self.pipe() }
      for index in readsOutput ? [1, 2] : [1] { _ = try SystemError.check("fcntl", fcntl(open[index], F_SETFL, O_NONBLOCK)) }
      identifier = try Self.spawn(words, variables, input: open[0], output: readsOutput ? open[3] : nil)
      endDescriptor = linux_pidfd_open(identifier)
    } catch {
      for descriptor in open { close(descriptor) }
      throw error
    }
    close(open[0])
    if readsOutput { close(open[3]) }
    input = open[1]
    output = readsOutput ? open[2] : -1
    // Only Linux before 5.3 has no pidfd_open(2).
    guard endDescriptor >= 0 else {
      let error = SystemError(call: "pidfd_open", number: errno)
      signal(SIGKILL)
      reap(waits: true)
      throw error
    }
  }

  deinit {
    closePipes()
    if endDescriptor >= 0 { close(endDescriptor) }
  }

  private func closePipes() {
    closeInput()
    if output >= 0 { close(output) }
  }

  /// Creates a pipe, and returns its read end and its write end.
  private static func pipe() throws(SystemError) -> [Int32] {
    var pair: [Int32] = [-1, -1]
    _ = try SystemError.check("pipe", unsafe linux_pipe(&pair))
    return pair
  }

  private static func spawn(_ words: [String], _ variables: [String], input: Int32, output: Int32?) throws(SystemError) -> pid_t {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
    if let output { unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO) }
    // Some open descriptors are not close-on-exec, such as the sockets of the metrics server. A
    // program that inherited them would keep the port in use, and scrapers would wait.
    let closing = unsafe linux_spawn_closing_from(&actions, STDERR_FILENO + 1)
    guard closing == 0 else { throw SystemError(call: "posix_spawn", number: closing) }
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    // Threads of attache block the signals that it waits for, and SIGPIPE may be ignored. The
    // program must inherit neither.
    var (none, all) = (sigset_t(), sigset_t())
    unsafe sigemptyset(&none)
    unsafe sigfillset(&all)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setsigdefault(&attributes, &all)
    unsafe posix_spawnattr_setpgroup(&attributes, 0)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    let arguments = unsafe words.map { unsafe strdup($0) } + [nil]
    let added = unsafe variables.map { unsafe strdup($0) }
    defer { unsafe (arguments + added).forEach { unsafe free($0) } }
    var environment: [UnsafeMutablePointer<CChar>?] = unsafe added
    var variable = unsafe environ
    while let text = unsafe variable.pointee {
      unsafe environment.append(text)
      unsafe variable += 1
    }
    unsafe environment.append(nil)
    var identifier = pid_t()
    let result = unsafe posix_spawnp(&identifier, arguments[0] ?? strdup(""), &actions, &attributes, arguments, environment)
    guard result == 0 else { throw SystemError(call: words.first ?? "", number: result) }
    return identifier
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
    end != nil || kill(-identifier, signal) == 0 || errno == ESRCH
  }

  /// Records whether the process has ended.
  ///
  /// - Returns: how it ended; nil while it runs.
  @discardableResult
  func reap(waits: Bool = false) -> End? {
    if let end { return end }
    var status: Int32 = 0
    while true {
      let child = unsafe waitpid(identifier, &status, waits ? 0 : WNOHANG)
      if child == 0 { return nil }
      if child < 0, errno == EINTR { continue }
      // Other code that waits for any child of this process may have taken the status.
      if child < 0 { status = 0 }
      break
    }
    let signal = status & 0x7F
    end = signal == 0 ? .exited(status: status >> 8 & 0xFF) : .killed(signal: signal)
    return end
  }
}
