/// Why a queue could not do what it was asked. Nothing is lost by it, and the call changed nothing (``PayloadQueue``).
public enum QueueError: Error, Hashable, Sendable, CustomStringConvertible {
  /// It cannot be reached or used, or is none: the text says why and what to do.
  case unavailable(String)
  /// There is no room on the disk, or no descriptor is left: the text says where. A worker pauses until there is.
  case full(String)
  /// The system refuses, or what is stored cannot be read: the text says what.
  case failed(String)

  /// One line, whatever the path of the queue.
  public var description: String {
    switch self {
    case .unavailable(let text), .failed(let text): text.onOneLine
    case .full(let text): "\(text); make room and start again: nothing is lost".onOneLine
    }
  }
}
