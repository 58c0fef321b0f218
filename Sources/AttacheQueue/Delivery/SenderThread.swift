package import Attache
internal import Glibc
internal import Synchronization

/// The thread of a sender, and what other threads ask of it.
package final class SenderThread: Sendable {
  /// Results to send, and requests, which stay set.
  package struct Inbox: Sendable {
    package fileprivate(set) var deliveries: [Delivery] = []
    package fileprivate(set) var isDraining = false
    package fileprivate(set) var isCancelled = false
    package fileprivate(set) var isClosed = false
  }

  private let inbox: Mailbox<Inbox>
  private let failures = Mutex(MinuteLimit())
  private let thread = Mutex<(any StartedThread)?>(nil)

  /// - Parameter wake: ends the thread's wait, from any thread.
  package init(wake: @escaping @Sendable () -> Void) {
    inbox = Mailbox(Inbox(), wake: wake)
  }

  package func start(_ body: @escaping @Sendable () -> Void) throws(SystemError) {
    let started = try SystemMachine().start("sender", body)
    thread.withLock { $0 = started }
  }

  /// Returns the results that have arrived since the last call, and the requests so far.
  package func take() -> Inbox {
    inbox.take { inbox in
      defer { inbox.deliveries = [] }
      // The thread waits for the signal after each call.
      return (inbox, sleeps: true)
    }
  }

  package func send(_ deliveries: [Delivery]) { inbox.change { $0.deliveries += deliveries } }
  package func drain() { inbox.change { $0.isDraining = true } }
  package func cancel() { inbox.change { $0.isCancelled = true } }

  /// Waits for 100 ms after a wait that failed: the kernel may have no memory at the moment. Notifies
  /// the owner once a minute. For the sender's thread.
  package func pause(after error: SystemError, _ owner: any SenderOwner) {
    if failures.withLock({ $0.allows(at: .now) }) { owner.notify("the sender is delayed: \(error); it is tried again every 100 ms") }
    usleep(100_000)
  }

  /// Waits until the thread has ended.
  package func close() {
    inbox.change { $0.isClosed = true }
    thread.withLock { $0.take() }?.join()
  }
}
