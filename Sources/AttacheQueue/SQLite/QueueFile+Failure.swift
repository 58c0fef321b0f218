internal import Attache
internal import GRDB
internal import Glibc

/// Converts errors of SQLite to errors that say what to do.
extension QueueFile {
  func failure(_ error: any Error) -> QueueError {
    if let error = error as? QueueError { return error }
    guard let error = error as? DatabaseError else { return .failed("\(path): \(error)") }
    let text = "\(error.message ?? "no more is known") (SQLite \(error.extendedResultCode.rawValue))"
    switch error.resultCode {
    case .SQLITE_NOMEM: return .system(SystemError(call: "malloc", number: ENOMEM))
    case .SQLITE_FULL: return SystemFailure(ENOSPC, at: path).error
    case .SQLITE_IOERR where isAtSizeLimit: return SystemFailure(EFBIG, at: path).error
    // The index of the log is memory-mapped, so a lack of memory is reported as a disk error.
    case .SQLITE_IOERR where error.extendedResultCode == .SQLITE_IOERR_SHMMAP: return .system(SystemError(call: "mmap", number: ENOMEM))
    case .SQLITE_IOERR where !hasRoom: return SystemFailure(ENOSPC, at: path).error
    // A truncated or removed file is not a temporary failure of the disk.
    case .SQLITE_IOERR where error.extendedResultCode != .SQLITE_IOERR_SHORT_READ:
      return .disk("\(path): \(text)", isReadOnly: isOnReadOnlyDisk)
    case .SQLITE_READONLY where isOnReadOnlyDisk && error.extendedResultCode != .SQLITE_READONLY_DBMOVED:
      return .disk("\(path): cannot be written, \(text)", isReadOnly: true)
    case .SQLITE_CANTOPEN where !hasDescriptor: return SystemFailure(EMFILE, at: path).error
    case .SQLITE_BUSY, .SQLITE_LOCKED: return busy.error
    case .SQLITE_NOTADB: return .unavailable("\(path): is not a database, so not a queue; choose another file")
    case .SQLITE_CORRUPT:
      return .failed(
        "\(path): is damaged, \(text); check it with `sqlite3 \(path) 'PRAGMA integrity_check'`, and save what is left with `.recover`")
    case .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH, .SQLITE_CANTOPEN:
      return .unavailable("\(path): cannot be written, \(text); a queue needs a folder and a file that its workers can write")
    default: return .failed("\(path): \(text)")
    }
  }

  /// Whether the process has a free descriptor. SQLite does not say why it cannot open one of its
  /// own files.
  private var hasDescriptor: Bool {
    let file = unsafe Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return errno != EMFILE && errno != ENFILE }
    close(file)
    return true
  }

  /// Whether one of the files has almost reached the limit on the size of this process's files
  /// (`ulimit -f`).
  private var isAtSizeLimit: Bool {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0, limit.rlim_cur < rlim_t(Int.max) else { return false }
    return ["", "-wal", "-shm"].contains { ending in
      var status = stat()
      return unsafe stat(path + ending, &status) == 0 && rlim_t(status.st_size) + 64 << 10 >= limit.rlim_cur
    }
  }

  private var isOnReadOnlyDisk: Bool {
    var status = statvfs()
    return unsafe statvfs(path, &status) == 0 && status.f_flag & UInt(MS_RDONLY) != 0
  }

  /// Whether the file system has room. Without room, access to the file that processes share their
  /// locks by (`PATH-shm`) fails with a different error.
  private var hasRoom: Bool {
    var status = statvfs()
    guard unsafe statvfs(path, &status) == 0 else { return true }
    return status.f_bavail * status.f_frsize >= 64 << 10
  }
}
