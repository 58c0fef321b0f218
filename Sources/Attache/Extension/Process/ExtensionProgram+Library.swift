internal import Glibc

extension ExtensionProgram {
  /// Starts the threads that look after the processes. The first request starts the first process.
  ///
  /// - Parameters:
  ///   - path: the folder that `attache extension build` has made, or the program in it.
  ///   - store: the store of the attached files. It belongs to the caller, who shuts it down after
  ///     ``shutdown()``.
  ///   - limits: the limits of attachments.
  ///   - policy: the rules for the requests that the extension makes. Its proxy is not used.
  ///   - processes: the maximum number of processes, at least 1.
  ///   - concurrency: the maximum number of requests that a process serves at a time, at least 1.
  ///   - maximumMemory: the maximum anonymous memory of a process, in bytes; nil for no limit. iOS is
  ///     reported to end a service extension at 24 MB.
  ///   - groups: the folder of the app groups, which must exist and is kept; nil for an empty one that
  ///     is removed at the end.
  ///   - warn: receives messages about the processes, at most one for each way in which they fail, on
  ///     any thread.
  /// - Throws: ``StartError`` if there is no such program, or another error that says what is missing.
  public convenience init(
    at path: String, store: AttachmentStore, limits: MediaLimits = MediaLimits(), policy: URLPolicy = URLPolicy(), processes: Int = 1,
    concurrency: Int = 1, maximumMemory: Int? = 24_000_000, groups: String? = nil, warn: @escaping @Sendable (String) -> Void = { _ in }
  ) throws {
    var configuration = ExtensionProcesses.Configuration(program: try Self.program(at: path))
    (configuration.processes, configuration.concurrency) = (max(1, processes), max(1, concurrency))
    (configuration.memoryLimit, configuration.groups) = (maximumMemory, groups)
    configuration.network = ExtensionNetwork(policy)
    try self.init(configuration, store: store, limits: limits, conversion: nil, uploader: nil, warn: warn)
  }

  /// Returns the real path of a program that `attache extension build` has made.
  ///
  /// - Parameter path: its folder, or the program in it.
  /// - Throws: ``StartError``, which says what is there instead.
  package static func program(at path: String) throws(StartError) -> String {
    guard !path.hasSuffix(".swift") else {
      throw StartError("\(path): this is a source. Build it first: attache extension build \(path) -o MyExtension")
    }
    let inner = path + "/Extension"
    let program = unsafe access(inner, X_OK) == 0 ? inner : path
    var status = stat()
    guard unsafe stat(program, &status) == 0 else { throw StartError("\(path): there is no such folder.") }
    guard status.st_mode & S_IFMT == S_IFREG, unsafe access(program, X_OK) == 0, let real = unsafe realpath(program, nil) else {
      throw StartError("\(path): this is not what attache extension build makes: a folder with the program Extension.")
    }
    defer { unsafe free(real) }
    return unsafe String(cString: real)
  }
}
