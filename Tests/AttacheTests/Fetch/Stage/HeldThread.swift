import Dispatch

/// Blocks a thread outside Swift's pool until it is released.
final class HeldThread: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)

  func wait() {
    semaphore.wait()
  }

  func signal() {
    semaphore.signal()
  }
}
