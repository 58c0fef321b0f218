import Attache
import AttacheQueue
import Testing

@Suite struct QueueClaimTests {
  @Test(arguments: QueueBackend.allCases)
  func `an empty queue gives nothing and has nothing to wait for`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open()
    let claim = try queue.claim(.upTo(10))
    #expect(claim.leases == [])
    #expect(!claim.hasSuspects)
    #expect(claim.next == nil)
    #expect(try queue.enqueue([]) == 0)
    #expect(try queue.finish([]) == [])
    #expect(try queue.giveBack([]) == [])
    #expect(try queue.renew([], for: .seconds(1)) == [])
    #expect(try queue.markRead([]) == [])
    #expect(try queue.results(ResultRequest()).isAtEnd)
    #expect(try queue.counts() == QueueCounts())
  }

  @Test(arguments: QueueBackend.allCases)
  func `a queue that is not there is refused unless it may be made`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    #expect {
      _ = try test.open(creates: false)
    } throws: { error in
      if case .unavailable(let text)? = error as? QueueError { text.contains(test.name) } else { false }
    }
    try test.open().close()
    try test.open(creates: false).close()
  }

  @Test(arguments: QueueBackend.allCases)
  func `payloads are numbered from 1 in the order enqueued`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open(with: ["a", "b"])
    #expect(try queue.enqueue([NewPayload("c")]) == 1)
    let leases = try queue.lease()
    #expect(leases.map(\.token.id) == [1, 2, 3])
    #expect(leases.map(\.text) == ["a", "b", "c"])
    #expect(leases.map(\.attempt) == [1, 1, 1])
    #expect(leases.map(\.deaths) == [0, 0, 0])
  }

  @Test(arguments: QueueBackend.allCases)
  func `higher priorities are claimed first, and the same ones in the order enqueued`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open()
    let priorities = [5, 10, 1, 10, -3, 5, 1_000, Int.min, Int.max]
    _ = try queue.enqueue(priorities.enumerated().map { index, priority in NewPayload("\(index)") { $0.priority = priority } })
    let order = try queue.lease(4).map(\.text) + queue.lease().map(\.text)
    #expect(order == ["8", "6", "1", "3", "0", "5", "2", "4", "7"])
  }

  @Test(arguments: QueueBackend.allCases)
  func `a claim takes so many payloads at most`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open(with: ["a", "b", "c"])
    let first = try queue.claim(.upTo(2))
    #expect(first.leases.map(\.text) == ["a", "b"])
    #expect(first.next == .zero)
    #expect(try queue.lease().map(\.text) == ["c"])
    #expect(try queue.lease().isEmpty)
  }

  @Test(arguments: QueueBackend.allCases)
  func `a claim takes so many bytes at most, but one payload at least`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open(with: [String(repeating: "a", count: 99), String(repeating: "b", count: 49), "c"])
    #expect(try queue.claim(ClaimRequest(limit: 9, maximumBytes: 10, span: .seconds(10))).leases.map(\.token.id) == [1])
    #expect(try queue.claim(ClaimRequest(limit: 9, maximumBytes: 51, span: .seconds(10))).leases.map(\.token.id) == [2])
    #expect(try queue.claim(ClaimRequest(limit: 9, maximumBytes: 51, span: .seconds(10))).leases.map(\.token.id) == [3])
  }

  @Test(arguments: QueueBackend.allCases)
  func `a line longer than the engine reads is leased without its bytes, and is its own result`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open()
    let long = [UInt8](repeating: UInt8(ascii: "x"), count: 2 << 20)
    let longest = [UInt8](repeating: UInt8(ascii: "y"), count: Lease.maximumLine)
    #expect(try queue.enqueue([NewPayload(line: long), NewPayload(line: longest), NewPayload("short")]) == 3)
    let leases = try queue.lease()
    #expect(leases.map(\.line) == [nil, longest, Array("short\n".utf8)])
    #expect(try queue.finish(leases.map { $0.finished() }) == [])
    #expect(try queue.results(ResultRequest()).entries.map(\.line) == [long, longest, Array("short\n".utf8)])
  }

  @Test(arguments: QueueBackend.allCases)
  func `lines, outputs and records are kept byte for byte`(_ backend: QueueBackend) throws {
    let lines: [[UInt8]] = [
      [], [0x0A], [0x0D, 0x0A], [0x00], [0xFF, 0xFE, 0x00, 0x0A], Array("no ending".utf8), [0xC0, 0x80, 0x0A, 0x0A, 0x20], Array(0...255),
    ]
    let test = try TestQueue(backend)
    let queue = try test.open()
    #expect(try queue.enqueue(lines.map(NewPayload.init(line:))) == lines.count)
    let leases = try queue.lease()
    #expect(leases.map(\.line) == lines)
    // The result of each payload is the line of the next one, and its record is its own line.
    let outputs = lines.dropFirst() + [[]]
    let results = zip(leases, outputs).map { lease, output in
      FinishedPayload(lease.token, output: output, outcome: .attached, reason: nil, record: lease.line ?? [])
    }
    #expect(try queue.finish(results) == [])
    let entries = try queue.results(ResultRequest()).entries
    #expect(entries.map(\.line) == Array(outputs))
    #expect(entries.map(\.record) == lines)
  }

  @Test(arguments: QueueBackend.allCases)
  func `a payload that is given back keeps its place`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open(with: ["a", "b", "c"])
    let leases = try queue.lease(2)
    #expect(
      try queue.giveBack([ReturnedPayload(leases[1].token, wasTried: false), ReturnedPayload(leases[0].token, wasTried: true)]) == [])
    let again = try queue.lease()
    #expect(again.map(\.text) == ["a", "b", "c"])
    #expect(again.map(\.attempt) == [2, 1, 1])
  }
}
