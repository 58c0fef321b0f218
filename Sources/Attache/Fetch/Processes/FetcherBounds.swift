internal import CFetcher
internal import Glibc

/// What a fetcher's process is held to by the kernel, so that a stranger who takes it over has
/// little of it (SECURITY.md).
struct FetcherBounds {
  /// What the kernel, or what attache runs in, declines to hold a fetcher to.
  struct Missing: OptionSet, CustomStringConvertible, Sendable {
    var rawValue: UInt8

    /// Which files it opens.
    static let files = Missing(rawValue: UInt8(fetcher_open_files))
    /// Which calls of the kernel it makes.
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

  /// How many fetches may be in flight.
  var fetches: Int

  /// Beyond this many fetches, memory and descriptors grow no further.
  private static let maximumFetches = 1 << 16
  /// What a fetcher without transfers may take, in bytes: the index, the names that were looked up,
  /// libraries.
  private static let reserve: UInt64 = 128 << 20
  /// What a transfer takes at the most, in bytes: 120 to 250 KB were measured, for HTTP/2 with TLS.
  private static let perFetch: UInt64 = 256 << 10

  private var boundedFetches: Int { min(max(1, fetches), Self.maximumFetches) }

  /// Bytes of memory beside what the process begins with.
  var memory: UInt64 { Self.reserve + UInt64(boundedFetches) * Self.perFetch }
  var descriptors: UInt64 { UInt64(ConnectionBudget.descriptors(for: boundedFetches)) }

  /// Holds this process to them, while it has one thread.
  ///
  /// - Parameters:
  ///   - store: the folder that it may do anything in.
  ///   - roots: a file of root certificates that it is still to read; nil for none.
  /// - Returns: what it is not held to.
  func confine(store: String, roots: String?) -> Missing {
    TypeDetector.prepareToBeConfined()
    // Folders: a file that is replaced by a rename is another file. Those of the links' names too,
    // since a link may be replaced by a file.
    let files = ["/etc/resolv.conf", "/etc/hosts"] + (roots.map { [$0] } ?? [])
    let paths = (files + files.compactMap { Self.realPath($0) }).map { Self.folder(of: $0) } + ["/dev/urandom"]
    var pointers = unsafe paths.map { unsafe UnsafePointer(strdup($0)) }
    unsafe pointers.append(nil)
    return unsafe Missing(rawValue: UInt8(truncatingIfNeeded: fetcher_confine(store, pointers, memory, descriptors)))
  }

  private static func realPath(_ path: String) -> String? {
    guard let real = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(real) }
    return unsafe String(cString: real)
  }

  /// The folder of a file; `.` for a name alone.
  private static func folder(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}
