internal import Glibc

/// Why the store failed: one case for each way to handle it.
public enum StoreError: Error, Hashable, Sendable, CustomStringConvertible {
  /// No space: the disk is full (`ENOSPC`), the user's quota is used up (`EDQUOT`), or the file is
  /// larger than the process may write (`EFBIG`).
  case full(FailedCall)
  /// Not writable: the file system is read-only (`EROFS`) or permissions forbid it (`EACCES`,
  /// `EPERM`).
  case readOnly(FailedCall)
  /// Another process has held a lock for too long. The sentence names it.
  case locked(FailedCall, String)
  /// Any other system error.
  case failed(FailedCall)

  /// The system call that failed.
  public struct FailedCall: Hashable, Sendable {
    /// The attempted action, as a verb: `create`, `open`, `write`.
    public var action: String
    /// The path of the file or folder.
    public var path: String
    /// The system's error number (`errno`).
    public var code: Int32
  }

  /// Classifies a failed call by its error number. Call it before anything else can change `errno`.
  init(_ action: String, _ path: String, code: Int32 = errno) {
    let call = FailedCall(action: action, path: path, code: code)
    switch code {
    case ENOSPC, EDQUOT, EFBIG: self = .full(call)
    case EPERM where action == Self.linking: self = .failed(call)
    case EROFS, EACCES, EPERM: self = .readOnly(call)
    default: self = .failed(call)
    }
  }

  /// The action that failed, with its path and its error number.
  public var call: FailedCall {
    switch self {
    case .full(let call), .readOnly(let call), .locked(let call, _), .failed(let call): call
    }
  }

  /// The reason code of a payload's fallback.
  public var reason: Reason {
    switch self {
    case .full: .storeFull
    case .readOnly: .storeReadOnly
    case .locked, .failed: .storeFailed
    }
  }

  /// Whether every file gets the same error until the machine is repaired. This is false for a
  /// single file that vanished or that too many results hold.
  package var isOfMachine: Bool {
    switch self {
    case .full, .readOnly, .locked: true
    case .failed(let call): call.action != Self.holding && call.code != EMLINK
    }
  }

  private var advice: String {
    switch self {
    case .full(let call) where call.code == EFBIG: "raise the limit on the size of files (ulimit -f)"
    case .full, .readOnly: reason.advice
    case .failed(let call) where call.action == Self.linking && call.code == EMLINK:
      "too many unread results hold that file: read or purge results"
    case .failed(let call) where call.action == Self.linking:
      "a queue holds attachments by hard links, which that file system or that file's owner does not allow: choose another --store"
    case .failed(let call) where Shortage(call.code) != nil: Shortage(call.code)?.description ?? ""
    case .locked, .failed: "check that path, or choose another --store"
    }
  }

  /// The action of a hold whose file is gone.
  static let holding = "hold"
  /// The action of a failed link(2). Its errors have other causes than those of other calls.
  private static let linking = "link"

  /// One line for the log or the terminal: what failed, on which path, why, and what the user can
  /// do.
  public var description: String {
    if case .locked(_, let sentence) = self { return sentence }
    return unsafe "cannot \(call.action) \(call.path): \(String(cString: strerror(call.code))) (errno \(call.code)); \(advice)"
  }
}
