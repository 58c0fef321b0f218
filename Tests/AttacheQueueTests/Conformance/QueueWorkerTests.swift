import Attache
import AttacheQueue
import Foundation
import Synchronization
import Testing

@Suite struct QueueWorkerTests {
  @Test(arguments: QueueBackend.allCases)
  func `eight workers at once lease each payload once and finish all`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let count = 3_000
    let queue = try test.open(with: (1...count).map(String.init))
    let leased = Mutex<[Int64: Int]>([:])
    Self.atOnce(8) { worker in
      let handle = try test.open(creates: false)
      while true {
        let leases = try handle.claim(.upTo(1 + worker * 9, for: .seconds(3600))).leases
        guard !leases.isEmpty else { break }
        leased.withLock { leased in for lease in leases { leased[lease.token.id, default: 0] += 1 } }
        // Some payloads are given back meanwhile; another worker, or the same one, takes them.
        let (back, rest) = (
          leases.filter { $0.attempt == 1 && $0.token.id % 50 == 0 }, leases.filter { $0.attempt > 1 || $0.token.id % 50 != 0 }
        )
        #expect(try handle.giveBack(back.map { ReturnedPayload($0.token, wasTried: true) }) == [])
        #expect(try handle.finish(rest.map { $0.finished(output: "\($0.text) done\n") }) == [])
      }
      handle.close()
    }
    #expect(leased.withLock { $0.count } == count)
    #expect(leased.withLock { $0.allSatisfy { id, times in times == (id % 50 == 0 ? 2 : 1) } })
    let counts = try queue.counts()
    #expect(counts[.done] == count)
    #expect(counts.total == count)
    let page = try queue.results(ResultRequest(limit: count))
    #expect(page.entries.map(\.id) == (1...Int64(count)).map(\.self))
    #expect(page.entries.map(\.line) == (1...count).map { Array("\($0) done\n".utf8) })
  }

  @Test(arguments: QueueBackend.allCases)
  func `workers that enqueue at once share the numbers, and a key is taken once`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    _ = try test.open()
    let added = Mutex(0)
    Self.atOnce(4) { worker in
      let handle = try test.open()
      for round in 0..<20 {
        let count = try handle.enqueue([NewPayload("\(worker).\(round)"), NewPayload("\(round)") { $0.key = [UInt8(round)] }])
        added.withLock { $0 += count }
      }
      handle.close()
    }
    #expect(added.withLock(\.self) == 4 * 20 + 20)
    let queue = try test.open()
    let leases = try queue.lease(1_000)
    #expect(Set(leases.map(\.token.id)).count == 100)
    #expect(Set(leases.map(\.text)).count == 100)
  }

  @Test(arguments: QueueBackend.allCases)
  func `workers that make the queue at once make one`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    Self.atOnce(8) { worker in
      let handle = try test.open()
      #expect(try handle.enqueue([NewPayload("\(worker)")]) == 1)
      handle.close()
    }
    let queue = try test.open(creates: false)
    #expect(try Set(queue.lease().map(\.text)) == Set((0..<8).map(String.init)))
  }

  @Test(arguments: QueueBackend.allCases)
  func `several threads share one handle`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let count = 600
    let queue = try test.open(with: (1...count).map(String.init))
    Self.atOnce(4) { _ in
      while true {
        let leases = try queue.lease(7, for: .seconds(3600))
        guard !leases.isEmpty else { break }
        #expect(try queue.finish(leases.map { $0.finished() }) == [])
        _ = try queue.counts()
      }
    }
    #expect(try queue.counts()[.done] == count)
  }

  /// Runs the body on this many threads and waits for all of them.
  private static func atOnce(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) {
    let threads = (0..<count).map { index in
      let isDone = DispatchSemaphore(value: 0)
      let thread = Thread {
        #expect(throws: Never.self) { try body(index) }
        isDone.signal()
      }
      thread.start()
      return isDone
    }
    for isDone in threads { isDone.wait() }
  }
}
