import Dispatch

/// Holds a thread that is not Swift's until it is let go.
final class HeldThread: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)

  func wait() {
    semaphore.wait()
  }

  func signal() {
    semaphore.signal()
  }
}
