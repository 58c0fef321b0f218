public import Attache

/// Why a queue did not complete a call. The call changed nothing (``PayloadQueue``), unless its
/// outcome is unknown, and no payload is lost.
public enum QueueError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The queue cannot be reached or used, or the path is no queue. The text says why and what to
  /// do.
  case unavailable(String)
  /// The connection to the queue's server was lost during the call and not regained in time. The
  /// call may have changed everything that it was asked to, or nothing. The text says which server,
  /// and why.
  case unknown(String)
  /// The disk is full, or no descriptor is available. The text says where, and what to do. A worker
  /// pauses until that changes.
  case full(String)
  /// The disk of an open queue fails, or has become read-only. The text says where. A worker pauses
  /// until the disk is repaired. While a queue is opened, the same failure is ``unavailable(_:)``
  /// or ``failed(_:)``, because no worker waits yet.
  case disk(String, isReadOnly: Bool)
  /// Another process holds a lock, and the wait for it is over (``LockWaits``): its limit was
  /// reached, or the process was told to stop. The text says who holds it and what to do.
  case locked(String)
  /// The system has no thread or no memory.
  case system(SystemError)
  /// The system refused a call, or the stored data cannot be read. The text says what.
  case failed(String)

  /// The error in one line, even when the path of the queue contains line feeds.
  public var description: String {
    switch self {
    case .unavailable(let text), .locked(let text), .failed(let text): text.onOneLine
    case .unknown(let text):
      "\(text); whether the last change reached the queue is unknown".onOneLine
    case .system(let error): "the system refuses: \(error)"
    case .full(let text): "\(text) and start again: nothing is lost".onOneLine
    case .disk(let text, isReadOnly: true): "\(text); make its file system writable and start again: nothing is lost".onOneLine
    case .disk(let text, isReadOnly: false): "\(text); check the disk (`dmesg` says more) and start again".onOneLine
    }
  }
}

extension QueueError {
  /// The error of a queue whose tables another version of attache made.
  ///
  /// - Parameter name: the path or the address of the queue.
  package static func otherVersion(_ name: String, found: Int64, needed: Int64) -> QueueError {
    .unavailable(
      "\(name): the queue has version \(found) of the tables, and this attache needs version \(needed); finish the queue with the attache that "
        + "made it, or choose another queue")
  }

  /// The same error with another text behind its own.
  package func adding(_ more: String) -> QueueError {
    switch self {
    case .unavailable(let text): .unavailable("\(text); \(more)")
    case .unknown(let text): .unknown("\(text); \(more)")
    case .full(let text): .full("\(text); \(more)")
    case .locked(let text): .locked("\(text); \(more)")
    case .failed(let text): .failed("\(text); \(more)")
    case .disk, .system: self
    }
  }

  /// Runs the code that opens a queue, and converts its errors.
  static func opening<Value>(_ body: () throws(QueueError) -> Value) throws(QueueError) -> Value {
    do throws(QueueError) {
      return try body()
    } catch {
      throw error.atOpening
    }
  }

  /// The same error as a reason why a queue cannot be opened.
  private var atOpening: QueueError {
    switch self {
    case .disk(let text, isReadOnly: true): .unavailable("\(text); a queue needs a folder and files that its workers can write")
    case .disk(let text, isReadOnly: false): .failed(text)
    case .unavailable, .unknown, .full, .locked, .system, .failed: self
    }
  }
}
