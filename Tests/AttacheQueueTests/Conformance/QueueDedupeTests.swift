import Attache
import AttacheQueue
import Testing

@Suite struct QueueDedupeTests {
  @Test(arguments: QueueBackend.allCases)
  func `a key is taken once: within a call, in a later one, and by another handle`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let (queue, other) = (try test.open(), try test.open())
    #expect(try queue.enqueue([Self.keyed("a", "1"), Self.keyed("b", "1"), Self.keyed("c", "2")]) == 2)
    #expect(try queue.enqueue([Self.keyed("d", "2"), Self.keyed("e", "3")]) == 1)
    #expect(try other.enqueue([Self.keyed("f", "3"), Self.keyed("g", "1")]) == 0)
    let leases = try queue.lease()
    #expect(leases.map(\.text) == ["a", "c", "e"])
    #expect(leases.map(\.token.id) == leases.map(\.token.id).sorted())
    #expect(try queue.counts().total == 3)
  }

  @Test(arguments: QueueBackend.allCases)
  func `payloads without a key are never the same`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open()
    #expect(try queue.enqueue([NewPayload("a"), NewPayload("a")]) == 2)
    #expect(try queue.lease().map(\.text) == ["a", "a"])
  }

  @Test(arguments: QueueBackend.allCases)
  func `a key is any bytes, none too`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open()
    let keys: [[UInt8]] = [[], [0], [0, 0], [0xFF, 0xFE], Array("a/b".utf8), Array("..".utf8), [UInt8](repeating: 0x41, count: 5_000)]
    let payloads = keys.map { key in NewPayload("x") { $0.key = key } }
    #expect(try queue.enqueue(payloads) == keys.count)
    #expect(try queue.enqueue(payloads) == 0)
  }

  @Test(arguments: QueueBackend.allCases)
  func `a queue tells how many keys it knows`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open()
    #expect(try queue.knows([Array("1".utf8), []]) == 0)
    #expect(try queue.enqueue([Self.keyed("a", "1"), Self.keyed("b", "2"), NewPayload("c")]) == 3)
    #expect(try queue.knows([]) == 0)
    #expect(try queue.knows([Array("1".utf8), Array("2".utf8), Array("3".utf8), []]) == 2)
    try queue.finishAll()
    #expect(try queue.knows([Array("1".utf8)]) == 1)
  }

  @Test(arguments: QueueBackend.allCases)
  func `a key is kept while the payload is in the queue, and free once it is purged`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open()
    #expect(try queue.enqueue([Self.keyed("a", "1")]) == 1)
    let lease = try queue.leaseOne()
    #expect(try queue.enqueue([Self.keyed("b", "1")]) == 0)
    #expect(try queue.finish([lease.finished(.fallback)]) == [])
    #expect(try queue.enqueue([Self.keyed("c", "1")]) == 0)
    #expect(try queue.retry(nil) == 1)
    #expect(try queue.enqueue([Self.keyed("d", "1")]) == 0)
    try queue.finishAll()
    #expect(try queue.purge(olderThan: .zero, includesUndelivered: true).payloads == 1)
    #expect(try queue.enqueue([Self.keyed("e", "1")]) == 1)
    #expect(try queue.leaseOne().text == "e")
  }

  private static func keyed(_ text: String, _ key: String) -> NewPayload {
    NewPayload(text) { $0.key = Array(key.utf8) }
  }
}
