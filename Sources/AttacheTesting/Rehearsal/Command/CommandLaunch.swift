internal import Attache
internal import Glibc

/// A shell command to start: `/bin/sh -c` in its own process group, with pipes as its three
/// standard descriptors. It inherits nothing else.
struct CommandLaunch: Sendable {
  var command: String
  var environment: [String: String]

  /// The rehearsal's ends of the pipes, all non-blocking.
  struct Pipes {
    var input: Int32
    var output: Int32
    var errors: Int32
  }

  /// Starts the command in the network of the calling thread.
  func started() throws(StageError) -> (CommandGroup, Pipes) {
    do throws(SystemError) { return try start() } catch { throw .system(call: error.call, errno: error.number) }
  }

  private func start() throws(SystemError) -> (CommandGroup, Pipes) {
    var open: [Int32] = []
    do throws(SystemError) {
      for _ in 0..<3 { open += try Self.pipe() }
      let pipes = Pipes(input: open[1], output: open[2], errors: open[4])
      for end in [pipes.input, pipes.output, pipes.errors] { try Self.check("fcntl", fcntl(end, F_SETFL, O_NONBLOCK)) }
      let leader = try spawn(input: open[0], output: open[3], errors: open[5])
      for other in [open[0], open[3], open[5]] { close(other) }
      return (CommandGroup(leader: leader), pipes)
    } catch {
      for descriptor in open { close(descriptor) }
      throw error
    }
  }

  /// Returns the reading end and the writing end.
  private static func pipe() throws(SystemError) -> [Int32] {
    var pair: [Int32] = [-1, -1]
    try check("pipe", unsafe Glibc.pipe(&pair))
    for end in pair { try check("fcntl", fcntl(end, F_SETFD, FD_CLOEXEC)) }
    return pair
  }

  private static func check(_ call: String, _ result: Int32) throws(SystemError) {
    guard result >= 0 else { throw SystemError(call: call, number: errno) }
  }

  private func spawn(input: Int32, output: Int32, errors: Int32) throws(SystemError) -> pid_t {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    for (number, descriptor) in [input, output, errors].enumerated() {
      unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
    }
    _ = unsafe Self.closeFrom(&actions, 3)
    var attributes = Self.attributes()
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    let argv = unsafe Self.strings(["sh", "-c", command])
    let envp = unsafe Self.strings(environment.map { "\($0.key)=\($0.value)" })
    defer { unsafe (argv + envp).forEach { unsafe free($0) } }
    var leader = pid_t()
    let result = unsafe posix_spawn(&leader, "/bin/sh", &actions, &attributes, argv, envp)
    guard result == 0 else { throw SystemError(call: "posix_spawn /bin/sh", number: result) }
    return leader
  }

  /// Returns C copies of the texts, with the terminating nil.
  private static func strings(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
    unsafe texts.map { unsafe strdup($0) } + [nil]
  }

  /// Returns the attributes: its own group, no signal blocked and none ignored. SwiftNIO ignores
  /// SIGPIPE in this process, and a command must not inherit that.
  private static func attributes() -> posix_spawnattr_t {
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    var (none, all) = (sigset_t(), sigset_t())
    unsafe sigemptyset(&none)
    unsafe sigfillset(&all)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setsigdefault(&attributes, &all)
    unsafe posix_spawnattr_setpgroup(&attributes, 0)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    return attributes
  }

  /// `posix_spawn_file_actions_addclosefrom_np`, which glibc has but its Swift module does not
  /// expose. Without it, this command would inherit descriptors of other rehearsals.
  private static let closeFrom = unsafe unsafeBitCast(
    dlsym(nil, "posix_spawn_file_actions_addclosefrom_np"),
    to: (@convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32).self)
}
