internal import Attache
internal import Synchronization

/// Renews the leases of a worker or a deliverer on its own thread, so that they do not run out
/// while other threads parse a long payload or wait for a slow disk.
///
/// The queue's clock measures the span, as it does for the leases.
final class LeaseRenewer: Sendable {
  /// Extends leases to a span from now.
  typealias Renewal = @Sendable (_ leases: [LeaseToken], _ span: Duration) throws(QueueError) -> Void

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

  /// Checks the leases four times within their span, until ``finish()``.
  ///
  /// - Parameters:
  ///   - due: returns the leases to renew, if the oldest was taken or renewed before the given
  ///     time.
  ///   - renewed: receives the renewed leases, and when. A failed renewal stays due and is repeated
  ///     at the next check, before the leases run out.
  ///   - failed: receives each error of the queue. After a ``MachineFault``, which is temporary, the
  ///     caller pauses: no death is counted for a worker that lives.
  func run(due: (_ before: Duration) -> [LeaseToken], renewed: ([LeaseToken], _ now: Duration) -> Void, failed: (QueueError) -> Void) {
    while !isFinished.load(ordering: .acquiring) {
      do throws(QueueError) {
        let now = clock.uptime
        let tokens = due(now - span / 2)
        // A lost lease is noticed later, when the queue refuses its result.
        if !tokens.isEmpty {
          try renew(tokens, span)
          renewed(tokens, now)
        }
      } catch {
        failed(error)
      }
      wakeSignal.wait(until: machine.now.advanced(by: span / 4))
    }
  }

  /// Checks the leases now. Safe from any thread.
  func wake() { wakeSignal.ring() }

  /// Ends ``run(due:renewed:failed:)``. Safe from any thread.
  func finish() {
    isFinished.store(true, ordering: .releasing)
    wakeSignal.ring()
  }
}
