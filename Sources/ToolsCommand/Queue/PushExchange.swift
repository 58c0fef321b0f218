import ArgumentParser
import Attache
import AttacheArguments
import AttacheSenders
import Logging
import Synchronization

/// Waits for the end of one request.
final class PushExchange<Reply: Sendable>: Sendable {
  private let end = Mutex<RequestEnd<Reply>?>(nil)
  private let wakeSignal: any WakeSignal

  /// - Throws: the exit status when the system has no descriptor left.
  init(_ log: Logger) throws {
    wakeSignal = try orExit(log, ExitStatus.software) { try SystemMachine().makeWakeSignal() }
  }

  func take(_ ended: RequestEnd<Reply>?) {
    end.withLock { $0 = ended ?? $0 }
    wakeSignal.ring()
  }

  /// Returns when the request has ended.
  func wait() -> RequestEnd<Reply> {
    while true {
      if let end = end.withLock({ $0 }) { return end }
      wakeSignal.wait(until: nil)
    }
  }
}

extension PushExchange: PushClientOwner where Reply == APNsReply {
  func take(_ ends: [(request: PushRequest, end: RequestEnd<APNsReply>)]) { take(ends.first?.end) }

  /// The end of the request reports the same.
  func notify(_ notice: String) {}

  func reconnected() {}
}
