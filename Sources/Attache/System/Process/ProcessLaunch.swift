internal import CLinux
internal import Glibc

/// A child process to start. Of the descriptors of this process, it inherits only the standard
/// ones, and ``socket``. It inherits no blocked signals.
package struct ProcessLaunch: Sendable {
  /// One of the three standard descriptors of the process.
  package enum Stream: Sendable {
    /// The same as that of this process.
    case inherited
    /// A pipe to or from this process.
    case pipe
    case closed
    /// The file at a path, for input or for output that replaces its contents.
    case file(String)
    /// A copy of a descriptor of this process.
    case descriptor(Int32)
    /// The same as standard output, for standard error.
    case output
  }

  /// This process's ends of the pipes, which the caller closes. It is -1 where there is no pipe.
  package struct Pipes: Sendable {
    package let input: Int32
    package let output: Int32
    package let errors: Int32
  }

  /// The program. It is searched for in PATH if it has no slash.
  package var program: String
  /// The program's own name (`argv[0]`) and its arguments.
  package var words: [String]
  /// Environment variables. Each replaces an inherited one of its name.
  package var environment: [String: String] = [:]
  package var inheritsEnvironment = false
  package var input = Stream.pipe
  package var output = Stream.pipe
  package var errors = Stream.pipe
  /// Whether this process waits when it reads from an empty pipe or writes to a full one.
  package var pipesBlock = false
  /// Whether the process has its own process group, so that a Ctrl-C at the terminal does not reach
  /// it.
  package var leadsGroup = true
  /// Whether the process leads a session, so that all that it starts can be ended
  /// (``StartedProcess/endSessions(of:)``). It then leads a process group, too.
  package var leadsSession = false
  /// A descriptor of this process that the program has as descriptor 3; nil for none.
  package var socket: Int32?
  /// The signals that it ignores if this process ignores them. It ignores no others.
  package var ignored: [Int32] = []

  /// - Parameter program: nil for the first of `words`.
  package init(_ words: [String], program: String? = nil) {
    self.program = program ?? words.first ?? ""
    self.words = words
  }

  /// Starts the process, in the network of the calling thread.
  ///
  /// - Throws: ``SystemError``, which names the program when it cannot be started, and the call when
  ///   the system has too little of a resource.
  package func start() throws(SystemError) -> (StartedProcess, Pipes) {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    var (ends, others): ([Int32], [Int32]) = ([], [])
    defer { for other in others { close(other) } }
    do throws(SystemError) {
      for (stream, number) in zip([input, output, errors], Int32(0)...) {
        guard let pipe = try unsafe connect(stream, as: number, in: &actions) else {
          ends.append(-1)
          continue
        }
        let (end, other) = number == STDIN_FILENO ? (pipe.write, pipe.read) : (pipe.read, pipe.write)
        ends.append(end)
        others.append(other)
        unsafe posix_spawn_file_actions_adddup2(&actions, other, number)
        if !pipesBlock { _ = try SystemError.check("fcntl", fcntl(end, F_SETFL, O_NONBLOCK)) }
      }
      // Some open descriptors are not close-on-exec, such as the sockets of the metrics server. A
      // program that inherited them would keep the port in use, and scrapers would wait.
      if let socket { unsafe posix_spawn_file_actions_adddup2(&actions, socket, STDERR_FILENO + 1) }
      let closing = unsafe linux_spawn_closing_from(&actions, STDERR_FILENO + (socket == nil ? 1 : 2))
      guard closing == 0 else { throw SystemError(call: "posix_spawn", number: closing) }
      let process = StartedProcess(try unsafe spawn(&actions), leadsGroup: leadsGroup)
      return (process, Pipes(input: ends[0], output: ends[1], errors: ends[2]))
    } catch {
      for end in ends where end >= 0 { close(end) }
      throw error
    }
  }

  /// Returns the pipe that the stream needs; nil for any other stream.
  private func connect(
    _ stream: Stream, as number: Int32, in actions: inout posix_spawn_file_actions_t
  ) throws(SystemError) -> PipeEnds? {
    switch stream {
    case .inherited: break
    case .pipe: return try PipeEnds()
    case .closed: unsafe posix_spawn_file_actions_addclose(&actions, number)
    case .file(let path):
      let flags = number == STDIN_FILENO ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC
      unsafe posix_spawn_file_actions_addopen(&actions, number, path, flags, 0o600)
    case .descriptor(let descriptor): unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, number)
    case .output: unsafe posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, number)
    }
    return nil
  }

  private func spawn(_ actions: inout posix_spawn_file_actions_t) throws(SystemError) -> Int32 {
    var attributes = attributes
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    let arguments = unsafe words.map { unsafe strdup($0) } + [nil]
    let added = unsafe environment.map { unsafe strdup("\($0.key)=\($0.value)") }
    defer { unsafe (arguments + added).forEach { unsafe free($0) } }
    var variables: [UnsafeMutablePointer<CChar>?] = unsafe added
    var variable = unsafe environ
    while inheritsEnvironment, let text = unsafe variable.pointee {
      let length = unsafe strcspn(text, "=") + 1
      let isReplaced = unsafe added.contains { unsafe $0.map { unsafe strncmp($0, text, length) == 0 } ?? false }
      if !isReplaced { unsafe variables.append(text) }
      unsafe variable += 1
    }
    unsafe variables.append(nil)
    var identifier = pid_t()
    let result = unsafe posix_spawnp(&identifier, program, &actions, &attributes, arguments, variables)
    guard result == 0 else { throw SystemError(call: Shortage(result, of: "posix_spawn") == nil ? program : "posix_spawn", number: result) }
    return identifier
  }

  /// Threads of attache block the signals that it waits for, and SIGPIPE may be ignored. The
  /// program must inherit neither.
  private var attributes: posix_spawnattr_t {
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    var (none, defaults) = (sigset_t(), sigset_t())
    unsafe sigemptyset(&none)
    unsafe sigfillset(&defaults)
    for signal in ignored { unsafe sigdelset(&defaults, signal) }
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
    unsafe posix_spawnattr_setpgroup(&attributes, 0)
    // POSIX_SPAWN_SETSID of glibc 2.26, which spawn.h shows only to those who ask for all of GNU's.
    let group = leadsSession ? 0x80 : leadsGroup ? POSIX_SPAWN_SETPGROUP : 0
    unsafe posix_spawnattr_setflags(&attributes, Int16(group | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    return attributes
  }
}
