import Attache
import AttacheQueue
import Testing

/// Calls that change more rows than one transaction does.
@Suite struct PostgreSQLStepTests {
  private static let count = PayloadChange.step + 1

  /// Returns a queue whose results have failed, and are dropped by their deliverer.
  private func queue() throws -> any PayloadQueue {
    let queue = try TestServerQueue().open(clock: ManualQueueClock())
    _ = try queue.enqueue((0..<Self.count).map { NewPayload("line \($0)") })
    _ = try queue.finish(try queue.lease(Self.count).map { $0.finished(.fallback, reason: .deadline) })
    let deliveries = try queue.settle([], claiming: DeliveryRequest(limit: Self.count, span: .seconds(10))).deliveries
    #expect(deliveries.count == Self.count)
    _ = try queue.settle(deliveries.map { SettledDelivery($0.token, .over(.dropped, answer: "no")) }, claiming: nil)
    return queue
  }

  @Test func `all failed results are requeued`() throws {
    let queue = try queue()
    #expect(try queue.retry(nil) == Self.count)
    #expect(try queue.counts()[.ready] == Self.count)
  }

  @Test func `all dropped results are delivered again`() throws {
    let queue = try queue()
    #expect(try queue.redeliver() == Self.count)
    #expect(try queue.counts().unread == Self.count)
  }

  @Test func `all old results are deleted`() throws {
    let queue = try queue()
    #expect(try queue.purge(olderThan: .zero, includesUndelivered: false).payloads == Self.count)
    #expect(try queue.counts().total == 0)
  }
}
