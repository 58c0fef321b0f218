internal import Attache
internal import Synchronization

/// Renews the leases of a worker or a deliverer on its own thread, so that they do not run out
/// while other threads parse a long payload or wait for a slow disk.
///
/// The queue's clock measures the span, as it does for the leases.
final class LeaseRenewer: Sendable {
  /// Extends leases to a span from now.
  typealias Renewal = @Sendable (_ leases: [LeaseToken], _ span: Duration) throws(QueueError) -> Void
  /// Lets a function read or change the leases.
  typealias Access = @Sendable (_ body: (inout HeldLeases) -> Void) -> Void

  private let renew: Renewal
  private let span: Duration
  private let clock: any QueueClock
  private let machine: any Machine
  private let wakeSignal: any WakeSignal
  private let isFinished = Atomic<Bool>(false)

  /// - Parameter span: the duration of a lease.
  /// - Throws: ``SystemError`` when no descriptor is available.
  init(span: Duration, clock: any QueueClock, machine: any Machine, renew: @escaping Renewal) throws(SystemError) {
    (self.renew, self.span, self.clock, self.machine) = (renew, span, clock, machine)
    wakeSignal = try machine.makeWakeSignal()
  }

  /// Checks the leases four times within their span, while `body` runs.
  ///
  /// - Parameters:
  ///   - failed: receives each error of the queue. A failed renewal is repeated at the next check,
  ///     before the leases run out. After a ``MachineFault``, which is temporary, the caller pauses:
  ///     no death is counted for a worker that lives.
  /// - Throws: the error of `body`; ``QueueError/system(_:)`` when no thread is available.
  func run<Value>(
    _ leases: @escaping Access, failed: @escaping @Sendable (QueueError) -> Void, during body: () throws(QueueError) -> Value
  ) throws(QueueError) -> Value {
    let thread: any StartedThread
    do throws(SystemError) {
      thread = try machine.start("renew") { [self] in
        while !isFinished.load(ordering: .acquiring) {
          do throws(QueueError) { try renewDue(leases) } catch { failed(error) }
          wakeSignal.wait(until: machine.now.advanced(by: span / 4))
        }
      }
    } catch {
      throw .system(error)
    }
    defer {
      isFinished.store(true, ordering: .releasing)
      wakeSignal.ring()
      thread.join()
    }
    return try body()
  }

  private func renewDue(_ leases: Access) throws(QueueError) {
    let now = clock.uptime
    var due: [LeaseToken] = []
    leases { due = $0.renewals(before: now - span / 2) }
    guard !due.isEmpty else { return }
    // A lost lease is noticed later, when the queue refuses its result.
    try renew(due, span)
    leases { $0.renewed(due, at: now) }
  }

  /// Checks the leases now. Safe from any thread.
  func wake() { wakeSignal.ring() }
}
