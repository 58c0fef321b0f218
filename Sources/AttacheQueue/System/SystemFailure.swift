internal import Attache
internal import Glibc

/// The error of a system call on one of a queue's files.
struct SystemFailure {
  let number: Int32
  let path: String

  init(_ number: Int32, at path: String) {
    self.number = number
    self.path = path
  }

  var error: QueueError {
    switch number {
    case ENOSPC, EDQUOT: .full("\(path): no space is left; free space")
    case EFBIG: .full("\(path): the limit on the size of files (ulimit -f) is reached; raise it")
    case EMFILE, ENFILE: .full("\(path): \(text)")
    case ENOENT, ENOTDIR: .unavailable("\(path): \(text); create its folder first, or choose another queue")
    case EACCES, EPERM, EISDIR, ELOOP: .unavailable("\(path): \(text); a queue needs a folder and files that its workers can write")
    case EROFS: .disk("\(path): \(text)", isReadOnly: true)
    case EIO: .disk("\(path): \(text)", isReadOnly: false)
    default: .failed("\(path): \(text)")
    }
  }

  /// The error of a lock on one of a queue's files.
  static func error(_ failure: FileLock.Failure, at path: String) -> QueueError {
    switch failure {
    case .system(let error): SystemFailure(error.number, at: path).error
    case .held(let sentence): .locked(sentence)
    }
  }

  private var text: String {
    SystemError.text(number)
  }
}
