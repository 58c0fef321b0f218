internal import CFetcher
internal import Glibc

/// The limits that the kernel enforces on a fetcher process, so that an attacker who takes it over
/// can do little (SECURITY.md).
struct FetcherBounds {
  /// The limits that could not be applied, because the kernel or the container refuses them.
  struct Missing: OptionSet, CustomStringConvertible, Sendable {
    var rawValue: UInt8

    /// The limits on the files that it opens (Landlock).
    static let files = Missing(rawValue: UInt8(fetcher_open_files))
    /// The limits on its system calls (seccomp).
    static let calls = Missing(rawValue: UInt8(fetcher_open_calls))
    static let all: Missing = [.files, .calls]

    var description: String {
      switch self {
      case .files: "Landlock"
      case .calls: "seccomp"
      default: "Landlock or seccomp"
      }
    }
  }

  /// The number of fetches that may be in flight.
  var fetches: Int
  /// Whether the fetcher starts a converter, which can have no wider limits than the fetcher.
  var converts = false

  /// The number of fetches above which the memory and descriptor limits do not grow.
  private static let maximumFetches = 1 << 16
  /// The memory that a fetcher without transfers may use, in bytes: for the index, resolved names
  /// and libraries.
  private static let reserve: UInt64 = 128 << 20
  /// The maximum memory of a transfer, in bytes. 120 to 250 KB were measured, for HTTP/2 with TLS.
  private static let perFetch: UInt64 = 256 << 10

  private var boundedFetches: Int { min(max(1, fetches), Self.maximumFetches) }

  /// The memory limit in bytes, beyond what the process uses at the start.
  var memory: UInt64 {
    Self.reserve + UInt64(boundedFetches) * Self.perFetch + (converts ? UInt64(ConverterProcess.memory) : 0)
  }
  var descriptors: UInt64 { UInt64(ConnectionBudget.descriptors(for: boundedFetches)) }

  /// Applies the limits to this process. It must have only one thread.
  ///
  /// - Parameters:
  ///   - store: the folder in which it may do anything.
  ///   - roots: a file of root certificates that it must still read; nil for none.
  /// - Returns: the limits that could not be applied.
  func confine(store: String, roots: String?) -> Missing {
    TypeDetector.prepareToBeConfined()
    return Self.confine(store: store, files: roots.map { [$0] } ?? [], memory: memory, descriptors: descriptors)
  }

  /// Applies the limits of the process that uploads to this process, which must have one thread. It
  /// may not open the store.
  ///
  /// - Returns: the limits that could not be applied.
  static func confine(_ uploader: UploaderProgram) -> Missing {
    confine(store: nil, files: uploader.files, memory: UploaderProgram.memory, descriptors: UploaderProgram.descriptors)
  }

  private static func confine(store: String?, files: [String], memory: UInt64, descriptors: UInt64) -> Missing {
    // Access is granted to folders, because a file that is replaced by a rename is a different
    // file. The folders of symbolic links are included, because a link may be replaced by a file.
    let files = ["/etc/resolv.conf", "/etc/hosts"] + files
    let paths = (files + files.compactMap { realPath($0) }).map { folder(of: $0) } + ["/dev/urandom"]
    var pointers = unsafe paths.map { unsafe UnsafePointer(strdup($0)) }
    unsafe pointers.append(nil)
    return unsafe Missing(rawValue: UInt8(truncatingIfNeeded: fetcher_confine(store, pointers, memory, descriptors)))
  }

  private static func realPath(_ path: String) -> String? {
    guard let real = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(real) }
    return unsafe String(cString: real)
  }

  /// Returns the folder of a file; `.` for a name without a folder.
  private static func folder(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}
