import Glibc

/// How a program is started: what a shell would set up for it.
struct Launch {
  /// What stands at one of the three standard descriptors.
  enum Stream {
    /// A pipe to the test.
    case pipe
    /// Nothing, as after `<&-`.
    case closed
    /// The file at a path, opened for reading as input and for writing else.
    case file(String)
    /// A descriptor of the test's, which it keeps.
    case descriptor(Int32)
  }

  var path: String
  var arguments: [String] = []
  var environment: [String: String] = [:]
  var input = Stream.pipe
  var output = Stream.pipe
  var errors = Stream.pipe
  /// A folder that stays as long as the program lives.
  var folder: TemporaryFolder?
  /// Signals that the program inherits as ignored.
  var ignored: [Int32] = []

  struct Failure: Error {
    var call: String
    var number: Int32
  }

  /// Starts the program.
  ///
  /// - Returns: its process, and the test's ends of the pipes, -1 where there is none.
  func start() throws -> (process: pid_t, ends: [Int32]) {
    // A test that writes to a program that has ended must live on.
    signal(SIGPIPE, SIG_IGN)
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    var (ends, others): ([Int32], [Int32]) = ([], [])
    for (number, stream) in [input, output, errors].enumerated() {
      let (end, other) = try unsafe add(stream, as: Int32(number), to: &actions)
      ends.append(end)
      if other >= 0 { others.append(other) }
    }
    _ = unsafe Self.closeFrom(&actions, 3)
    defer { for other in others { close(other) } }
    do {
      return (try unsafe spawn(&actions), ends)
    } catch {
      for end in ends where end >= 0 { close(end) }
      throw error
    }
  }

  /// `posix_spawn_file_actions_addclosefrom_np`, which glibc has and its Swift module does not
  /// show: a pipe of another test's must not stay open in this program.
  private static let closeFrom = unsafe unsafeBitCast(
    dlsym(nil, "posix_spawn_file_actions_addclosefrom_np"),
    to: (@convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32).self)

  private func add(_ stream: Stream, as number: Int32, to actions: inout posix_spawn_file_actions_t) throws -> (end: Int32, other: Int32) {
    switch stream {
    case .closed:
      unsafe posix_spawn_file_actions_addclose(&actions, number)
    case .file(let path):
      let flags = number == 0 ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC
      unsafe posix_spawn_file_actions_addopen(&actions, number, path, flags, 0o600)
    case .descriptor(let descriptor):
      unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, number)
    case .pipe:
      var pair: [Int32] = [-1, -1]
      guard unsafe pipe(&pair) == 0 else { throw Failure(call: "pipe", number: errno) }
      let (end, other) = number == 0 ? (pair[1], pair[0]) : (pair[0], pair[1])
      unsafe posix_spawn_file_actions_adddup2(&actions, other, number)
      return (end, other)
    }
    return (-1, -1)
  }

  private func spawn(_ actions: inout posix_spawn_file_actions_t) throws -> pid_t {
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var (none, defaults) = (sigset_t(), sigset_t())
    unsafe sigemptyset(&none)
    unsafe sigemptyset(&defaults)
    for signal in [SIGPIPE, SIGTERM, SIGINT, SIGHUP] where !ignored.contains(signal) { unsafe sigaddset(&defaults, signal) }
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

    let argv = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
    let envp = unsafe environment.map { unsafe strdup("\($0.key)=\($0.value)") } + [nil]
    defer { unsafe (argv + envp).forEach { unsafe free($0) } }
    var process = pid_t()
    let result = unsafe posix_spawn(&process, path, &actions, &attributes, argv, envp)
    guard result == 0 else { throw Failure(call: "posix_spawn \(path)", number: result) }
    return process
  }
}
