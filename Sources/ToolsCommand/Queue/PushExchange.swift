import ArgumentParser
import Attache
import AttacheArguments
import AttacheSenders
import Logging
import Synchronization

/// Sends one request for a command that waits for its end.
final class PushExchange: PushClientOwner {
  private let end = Mutex<PushEnd?>(nil)
  private let wakeSignal: any WakeSignal

  /// - Throws: the exit status when the system has no descriptor left.
  init() throws {
    wakeSignal = try orExit(LogFormat.text.logger(), ExitStatus.software) { try SystemMachine().makeWakeSignal() }
  }

  /// Sends a request and waits until it ends.
  ///
  /// - Throws: the exit status, after the problem is logged.
  func send(_ request: PushRequest, _ configuration: APNsConfiguration, _ log: Logger) throws -> PushEnd {
    let client = try orExit(log, ExitStatus.data) { try PushClient(configuration, owner: self) }
    defer { client.close() }
    client.perform { client.send([request]) }
    while true {
      if let end = end.withLock({ $0 }) { return end }
      wakeSignal.wait(until: nil)
    }
  }

  func take(_ ends: [(request: PushRequest, end: PushEnd)]) {
    end.withLock { $0 = ends.first?.end ?? $0 }
    wakeSignal.ring()
  }

  /// The end of the request reports the same.
  func notify(_ notice: String) {}

  func reconnected() {}
}
