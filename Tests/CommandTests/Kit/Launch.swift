import Attache
import Glibc

/// How a program is started: what a shell would set up for it.
struct Launch {
  /// The file behind one of the three standard descriptors.
  struct Stream {
    fileprivate var kind: ProcessLaunch.Stream

    /// A pipe to the test.
    static let pipe = Stream(kind: .pipe)
    /// Nothing, as after `<&-`.
    static let closed = Stream(kind: .closed)
    /// The file at a path: opened for reading as input, otherwise for writing.
    static func file(_ path: String) -> Stream { Stream(kind: .file(path)) }
    /// A descriptor that the test keeps.
    static func descriptor(_ number: Int32) -> Stream { Stream(kind: .descriptor(number)) }
  }

  var path: String
  var arguments: [String] = []
  var environment: [String: String] = [:]
  var input = Stream.pipe
  var output = Stream.pipe
  var errors = Stream.pipe
  /// A folder that exists as long as the program runs.
  var folder: TemporaryFolder?
  /// Signals that the program inherits as ignored.
  var ignored: [Int32] = []

  /// Starts the program, in the process group of the tests: a Ctrl-C ends both.
  func start() throws -> (StartedProcess, ProcessLaunch.Pipes) {
    // A test that writes to a program that has ended must continue.
    signal(SIGPIPE, SIG_IGN)
    var launch = ProcessLaunch([path] + arguments)
    launch.environment = environment
    (launch.input, launch.output, launch.errors) = (input.kind, output.kind, errors.kind)
    (launch.pipesBlock, launch.leadsGroup, launch.ignored) = (true, false, ignored)
    return try launch.start()
  }
}
