internal import CFetcher
internal import CSandbox
internal import Glibc

/// The limits that the kernel enforces on a fetcher process, so that an attacker who takes it over
/// can do little (SECURITY.md).
struct FetcherBounds {
  /// The limits that could not be applied, because the kernel or the container refuses them.
  struct Missing: OptionSet, CustomStringConvertible, Sendable {
    var rawValue: UInt8

    /// The limits on the files that it opens (Landlock).
    static let files = Missing(rawValue: UInt8(sandbox_open_files))
    /// The limits on its system calls (seccomp).
    static let calls = Missing(rawValue: UInt8(sandbox_open_calls))
    /// The end of its capabilities.
    static let capabilities = Missing(rawValue: UInt8(sandbox_open_capabilities))
    /// Landlock's limit on the files that it truncates. The list of system calls refuses that too.
    static let truncation = Missing(rawValue: UInt8(sandbox_open_truncation))
    /// The end of new threads.
    static let threads = Missing(rawValue: UInt8(sandbox_open_threads))
    static let all: Missing = [.files, .calls, .capabilities, .truncation, .threads]

    /// Returns what could not be applied to a fetcher on this machine, or everything if no process can
    /// be started to try.
    ///
    /// - Parameter landlock: the newest version of Landlock to use, for tests.
    static func onThisMachine(landlock: Int = .max) -> Missing {
      let missing = sandbox_try_fetcher(landlock)
      return missing < 0 ? .all : Missing(rawValue: UInt8(truncatingIfNeeded: missing))
    }

    /// The message for the user; nil if nothing is missing.
    var notice: FetcherNotice? { isEmpty ? nil : .unconfined(without: description) }

    /// What a compromised fetcher can do because of it.
    var description: String {
      var open: [String] = []
      if contains(.files) {
        open.append("without Landlock (Linux 5.19 or later): it reads and writes each file that its user may read and write")
      }
      if contains(.calls) { open.append("without seccomp: it makes each system call that its user may make") }
      if contains(.capabilities) {
        open.append("without dropping its capabilities: it does what they permit, such as opening the files of other users")
      }
      if contains(.truncation) {
        open.append(
          "without Landlock's rule for truncation (Linux 6.2 or later): "
            + (contains(.calls)
              ? "it empties each file that its user may write" : "seccomp refuses truncation instead, so nothing more is open"))
      }
      if contains(.threads) { open.append("without seccomp(2) for all threads: it starts threads without end") }
      return open.joined(separator: "; ")
    }
  }

  /// The number of fetches that may be in flight.
  var fetches: Int

  /// The number of fetches above which the memory and descriptor limits do not grow.
  private static let maximumFetches = 1 << 16
  /// The memory that a fetcher without transfers may use, in bytes: for the index, resolved names
  /// and libraries.
  private static let reserve: UInt64 = 128 << 20
  /// The maximum memory of a transfer, in bytes. 120 to 250 KB were measured, for HTTP/2 with TLS.
  private static let perFetch: UInt64 = 256 << 10

  private var boundedFetches: Int { min(max(1, fetches), Self.maximumFetches) }

  /// The memory limit in bytes, beyond what the process uses at the start.
  var memory: UInt64 { Self.reserve + UInt64(boundedFetches) * Self.perFetch }
  var descriptors: UInt64 { UInt64(ConnectionBudget.descriptors(for: boundedFetches)) }

  /// Applies the limits to this process. It must have only one thread.
  ///
  /// - Parameters:
  ///   - store: the folder in which it may do anything.
  ///   - roots: a file of root certificates that it must still read; nil for none.
  /// - Returns: the limits that could not be applied, and the files that it must still read.
  func confine(store: String, roots: String?) -> (missing: Missing, files: ReadableFiles) {
    Self.confine(sandbox_fetcher, store: store, files: roots.map { [$0] } ?? [], memory: memory, descriptors: descriptors)
  }

  /// Applies the limits of the process that uploads to this process, which must have one thread. It
  /// may not open the store.
  ///
  /// - Returns: the files that it must still read.
  static func confine(_ uploader: UploaderProgram) -> ReadableFiles {
    confine(
      sandbox_uploader, store: nil, files: uploader.files, memory: UploaderProgram.memory, descriptors: UploaderProgram.descriptors
    ).files
  }

  /// The files that a resolver reads again and again.
  static let namesFiles = ["/etc/resolv.conf", "/etc/hosts"]
  /// Other files that a library may read.
  private static let otherFiles = ["/etc/nsswitch.conf", "/etc/host.conf", "/etc/gai.conf", "/dev/urandom"]

  private static func confine(
    _ profile: sandbox_profile, store: String?, files: [String], memory: UInt64, descriptors: UInt64
  ) -> (missing: Missing, files: ReadableFiles) {
    let files = namesFiles + files
    let readable = ReadableFiles(files)
    var paths = unsafe (files + otherFiles).map { unsafe UnsafePointer(strdup($0)) }
    unsafe paths.append(nil)
    let missing = unsafe fetcher_confine(profile, store, paths, memory, descriptors)
    return (Missing(rawValue: UInt8(truncatingIfNeeded: missing)), readable)
  }
}
