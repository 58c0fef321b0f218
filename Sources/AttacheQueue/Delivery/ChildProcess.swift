internal import Attache
internal import CLinux
internal import Glibc

/// A program that a sender runs, in a process group of its own, so that a Ctrl-C at the terminal
/// reaches attache alone. It belongs to one thread.
@safe
final class ChildProcess {
  /// How a process ended.
  enum End: Equatable {
    case exited(status: Int32)
    case killed(signal: Int32)

    /// In words.
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
  /// The end to write its standard input to, which does not block; -1 once it is closed.
  private(set) var input: Int32
  /// The end to read its standard output from, which does not block; -1 where it writes to ours.
  let output: Int32
  private(set) var end: End?

  /// Starts a program.
  ///
  /// - Parameters:
  ///   - words: the program, which is looked for on PATH, and its arguments.
  ///   - variables: what its environment has beside ours, as `NAME=VALUE`.
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
    // Linux before 5.3 alone has none.
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

  /// The end to read from and the end to write to.
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
    // Not all that is open here closes at exec: the sockets of the figures do not. A program that
    // had them would keep the port, and each scraper waiting.
    let closing = unsafe linux_spawn_closing_from(&actions, STDERR_FILENO + 1)
    guard closing == 0 else { throw SystemError(call: "posix_spawn", number: closing) }
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    // Signals that attache waits for are blocked in its threads, and SIGPIPE may be ignored:
    // neither is for the program.
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

  /// Writes to its standard input as far as that has room.
  ///
  /// - Returns: the bytes that were taken; nil when it takes none any more.
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
  /// - Returns: what was read; empty when there is nothing at the moment, nil at its end.
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

  /// Sends a signal to the process and to those that it has started in its group.
  ///
  /// - Returns: false when the system refuses it, as for a program of another user.
  @discardableResult
  func signal(_ signal: Int32) -> Bool {
    end != nil || kill(-identifier, signal) == 0 || errno == ESRCH
  }

  /// Notes whether the process has ended.
  ///
  /// - Returns: how; nil while it runs.
  @discardableResult
  func reap(waits: Bool = false) -> End? {
    if let end { return end }
    var status: Int32 = 0
    while true {
      let child = unsafe waitpid(identifier, &status, waits ? 0 : WNOHANG)
      if child == 0 { return nil }
      if child < 0, errno == EINTR { continue }
      // Who waits for every child of the process may have taken its status.
      if child < 0 { status = 0 }
      break
    }
    let signal = status & 0x7F
    end = signal == 0 ? .exited(status: status >> 8 & 0xFF) : .killed(signal: signal)
    return end
  }
}
