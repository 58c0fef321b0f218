public import Attache

/// Why a queue could not do what it was asked. Nothing is lost by it, and the call changed nothing
/// (``PayloadQueue``).
public enum QueueError: Error, Hashable, Sendable, CustomStringConvertible {
  /// It cannot be reached or used, or is none: the text says why and what to do.
  case unavailable(String)
  /// There is no room on the disk, or no descriptor is left: the text says where. A worker pauses
  /// until there is.
  case full(String)
  /// The disk of a queue that is open fails, or has become read-only: the text says where. A worker
  /// pauses until it is mended. At opening the same is ``unavailable(_:)`` or ``failed(_:)``, since
  /// nobody waits then.
  case disk(String, isReadOnly: Bool)
  /// The system gives no thread or no memory.
  case system(SystemError)
  /// The system refuses, or what is stored cannot be read: the text says what.
  case failed(String)

  /// One line, whatever the path of the queue.
  public var description: String {
    switch self {
    case .unavailable(let text), .failed(let text): text.onOneLine
    case .system(let error): "the system refuses: \(error)"
    case .full(let text): "\(text); make room and start again: nothing is lost".onOneLine
    case .disk(let text, isReadOnly: true): "\(text); make its file system writable and start again: nothing is lost".onOneLine
    case .disk(let text, isReadOnly: false): "\(text); see to the disk (`dmesg` says more) and start again".onOneLine
    }
  }
}

extension QueueError {
  /// Runs what opens a queue.
  static func opening<Value>(_ body: () throws(QueueError) -> Value) throws(QueueError) -> Value {
    do throws(QueueError) {
      return try body()
    } catch {
      throw error.atOpening
    }
  }

  /// The error where it keeps a queue from being opened.
  private var atOpening: QueueError {
    switch self {
    case .disk(let text, isReadOnly: true): .unavailable("\(text); a queue needs a folder and files that its workers may write")
    case .disk(let text, isReadOnly: false): .failed(text)
    case .unavailable, .full, .system, .failed: self
    }
  }
}
