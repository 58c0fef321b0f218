internal import Attache
internal import Synchronization

/// Renews the leases of a worker or a deliverer on a thread of its own, so that no payload that
/// takes long to read, and no slow disk, lets them run out.
///
/// Spans are measured by the queue's clock, as the leases are.
final class LeaseRenewer: Sendable {
  /// Has leases last for a span from now on.
  typealias Renewal = @Sendable (_ leases: [LeaseToken], _ span: Duration) throws(QueueError) -> Void

  private let renew: Renewal
  private let span: Duration
  private let clock: any QueueClock
  private let machine: any Machine
  private let wakeSignal: any WakeSignal
  private let isFinished = Atomic<Bool>(false)

  /// - Parameter span: how long a lease lasts.
  /// - Throws: ``SystemError`` when no descriptor is to be had.
  init(span: Duration, clock: any QueueClock, machine: any Machine, renew: @escaping Renewal) throws(SystemError) {
    (self.renew, self.span, self.clock, self.machine) = (renew, span, clock, machine)
    wakeSignal = try machine.makeWakeSignal()
  }

  /// Looks at the leases four times within their span, until it is told to finish.
  ///
  /// - Parameters:
  ///   - due: gives the leases to renew, if the oldest was taken or renewed before the moment.
  ///   - renewed: is told which were renewed, and when. What failed stays due, and is tried at the
  ///     next look: before the leases run out.
  ///   - failed: is told why the queue refuses.
  func run(due: (_ before: Duration) -> [LeaseToken], renewed: ([LeaseToken], _ now: Duration) -> Void, failed: (QueueError) -> Void) {
    while !isFinished.load(ordering: .acquiring) {
      do throws(QueueError) {
        let now = clock.uptime
        let tokens = due(now - span / 2)
        // A lease that is lost is noticed by its result, which the queue refuses.
        if !tokens.isEmpty {
          try renew(tokens, span)
          renewed(tokens, now)
        }
      } catch {
        // A full or failing disk passes: the claiming thread pauses, and nobody counts a death of a
        // worker that lives.
        if MachineFault(error) == nil { failed(error) }
      }
      wakeSignal.wait(until: machine.now.advanced(by: span / 4))
    }
  }

  /// Looks at the leases now. Safe from any thread.
  func wake() { wakeSignal.ring() }

  /// Ends ``run(due:renewed:failed:)``. Safe from any thread.
  func finish() {
    isFinished.store(true, ordering: .releasing)
    wakeSignal.ring()
  }
}
