import Attache
import AttacheQueue
import Testing

@Suite struct QueueResultTests {
  @Test(arguments: QueueBackend.allCases)
  func `results come in the order enqueued, whatever was finished first`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open(with: ["a", "b", "c"])
    let leases = try queue.lease()
    for index in [2, 0, 1] { #expect(try queue.finish([leases[index].finished(output: index == 1 ? "B\n" : nil)]) == []) }
    let page = try queue.results(ResultRequest())
    #expect(page.entries.map(\.id) == [1, 2, 3])
    #expect(try queue.lines() == ["a\n", "B\n", "c\n"])
    #expect(page.entries.map(\.record) == leases.map(\.record))
    #expect(page.last == 3)
    #expect(page.isAtEnd)
  }

  @Test(arguments: QueueBackend.allCases)
  func `a result says its outcome and its reason`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open(with: Outcome.allCases.map(\.rawValue) + Reason.allCases.map(\.rawValue))
    let outcomes = Outcome.allCases.map { ($0, nil as Reason?) } + Reason.allCases.map { (.fallback, $0) }
    let leases = try queue.lease(outcomes.count)
    #expect(try queue.finish(zip(leases, outcomes).map { $0.finished($1.0, reason: $1.1) }) == [])
    let entries = try queue.results(ResultRequest()).entries
    #expect(entries.map(\.outcome) == outcomes.map(\.0))
    #expect(entries.map(\.reason) == outcomes.map(\.1))
  }

  @Test(arguments: QueueBackend.allCases)
  func `a page has so many results at most, and the next begins behind it`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open(with: (1...5).map(String.init))
    try queue.finishAll()
    var request = ResultRequest(limit: 2)
    var pages: [[Int64]] = []
    var page = try queue.results(request)
    pages.append(page.entries.map(\.id))
    while !page.isAtEnd {
      request.after = page.last
      page = try queue.results(request)
      pages.append(page.entries.map(\.id))
    }
    #expect(pages == [[1, 2], [3, 4], [5]])
    request.after = page.last
    let beyond = try queue.results(request)
    #expect(beyond.entries.isEmpty)
    #expect(beyond.last == 5)
    #expect(beyond.isAtEnd)
  }

  @Test(arguments: QueueBackend.allCases)
  func `a page has so many bytes at most, but one result at least`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open(with: [String(repeating: "a", count: 200), "b", "c"])
    try queue.finishAll()
    let first = try queue.results(ResultRequest(maximumBytes: 50))
    #expect(first.entries.map(\.id) == [1])
    #expect(!first.isAtEnd)
    let second = try queue.results(ResultRequest(after: 1, maximumBytes: 50))
    #expect(second.entries.map(\.id) == [2, 3])
    #expect(second.isAtEnd)
  }

  @Test(arguments: QueueBackend.allCases)
  func `payloads without a result are left out, or end the page if nothing may overtake them`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open(with: ["a", "b", "c", "d"])
    let leases = try queue.lease(3)
    _ = try queue.finish([leases[0].finished(), leases[2].finished()])
    #expect(try queue.results(ResultRequest()).entries.map(\.id) == [1, 3])
    let page = try queue.results(ResultRequest(stopsAtUndecided: true))
    #expect(page.entries.map(\.id) == [1])
    #expect(page.last == 1)
    #expect(page.isAtEnd)
    _ = try queue.finish([leases[1].finished()])
    #expect(try queue.results(ResultRequest(after: 1, stopsAtUndecided: true)).entries.map(\.id) == [2, 3])
    try queue.finishAll()
    #expect(try queue.results(ResultRequest(after: 3, stopsAtUndecided: true)).entries.map(\.id) == [4])
  }

  @Test(arguments: QueueBackend.allCases)
  func `results that were read can be left out`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open(with: ["a", "b", "c", "d", "undecided"])
    let leases = try queue.lease(4)
    _ = try queue.finish(leases.map { $0.finished() })
    #expect(try queue.counts().unread == 4)
    #expect(try queue.markRead([1, 3, 5, 99]) == [])
    #expect(try queue.markRead([1]) == [])
    #expect(try queue.counts().unread == 2)
    #expect(try queue.results(ResultRequest(onlyUnread: true)).entries.map(\.id) == [2, 4])
    #expect(try queue.results(ResultRequest(stopsAtUndecided: true, onlyUnread: true)).entries.map(\.id) == [2, 4])
    #expect(try queue.results(ResultRequest(limit: 1, onlyUnread: true)).isAtEnd == false)
    #expect(try queue.results(ResultRequest(after: 2, limit: 1, onlyUnread: true)).entries.map(\.id) == [4])
    #expect(try queue.results(ResultRequest()).entries.map(\.id) == [1, 2, 3, 4])
    #expect(try queue.markRead([2, 4]) == [])
    let page = try queue.results(ResultRequest(stopsAtUndecided: true, onlyUnread: true))
    #expect(page.entries.isEmpty)
    #expect(page.isAtEnd)
  }

  // MARK: Holds

  @Test(arguments: QueueBackend.holding)
  func `a file is free once every result that holds it was read`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open(with: ["a", "b", "c"])
    let leases = try queue.lease()
    _ = try queue.finish([
      leases[0].finished(.attached, holds: ["/held/one", "/held/two"]),
      leases[1].finished(.attached, holds: ["/held/two", "/held/a b\n\u{e9}"]),
    ])
    _ = try queue.finish([leases[2].finished(.attached, holds: ["/held/two"])])
    #expect(try queue.markRead([1]) == ["/held/one"])
    #expect(try queue.markRead([1]) == [])
    #expect(try queue.markRead([2]) == ["/held/a b\n\u{e9}"])
    #expect(try test.open().markRead([3]) == ["/held/two"])
  }

  @Test(arguments: QueueBackend.holding)
  func `a queue names one of its holds, as long as it has any`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open(with: ["a", "b"])
    #expect(try queue.anyHold() == nil)
    let leases = try queue.lease()
    _ = try queue.finish([leases[0].finished(.attached, holds: ["/held/one"]), leases[1].finished(.attached, holds: ["/held/one"])])
    #expect(try queue.anyHold() == "/held/one")
    _ = try queue.markRead([1])
    #expect(try queue.anyHold() == "/held/one")
    _ = try queue.markRead([2])
    #expect(try queue.anyHold() == nil)
  }

  @Test(arguments: QueueBackend.holding)
  func `a file that is freed twice in one call is named once`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open(with: ["a", "b"])
    _ = try queue.finish(try queue.lease().map { $0.finished(.attached, holds: ["/held/one", "/held/\($0.token.id)"]) })
    #expect(try queue.markRead([1, 2]).sorted() == ["/held/1", "/held/2", "/held/one"])
  }

  @Test(arguments: QueueBackend.holding)
  func `what a purged result held is free, unless another unread one holds it`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open(with: ["a", "b"])
    _ = try queue.finish([try queue.leaseOne().finished(.attached, holds: ["/held/one", "/held/two"])])
    test.clock.pass(.seconds(60))
    _ = try queue.finish([try queue.leaseOne().finished(.attached, holds: ["/held/two"])])
    let first = try queue.purge(olderThan: .seconds(30), includesUndelivered: true)
    #expect(first.payloads == 1)
    #expect(first.released == ["/held/one"])
    let second = try queue.purge(olderThan: .zero, includesUndelivered: true)
    #expect(second.payloads == 1)
    #expect(second.released == ["/held/two"])
  }

  @Test(arguments: QueueBackend.holding)
  func `what a result held that is retried is named with the next that is freed`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open(with: ["a", "b"])
    let leases = try queue.lease()
    _ = try queue.finish([leases[0].finished(.fallback, holds: ["/held/one", "/held/two"]), leases[1].finished()])
    #expect(try queue.retry(nil) == 1)
    _ = try queue.finish([try queue.leaseOne().finished(.attached, holds: ["/held/two"])])
    #expect(try queue.markRead([2]) == ["/held/one"])
    #expect(try queue.markRead([1]) == ["/held/two"])
  }

  @Test func `a queue on a server has no holds`() throws {
    let queue = try TestQueue(.postgreSQL).open(with: ["a"])
    _ = try queue.finish([try queue.leaseOne().finished(.attached, holds: ["/held/one"])])
    #expect(try queue.anyHold() == nil)
    #expect(try queue.unlistedHolds(["/held/one"]) == ["/held/one"])
    #expect(try queue.markRead([1]) == [])
  }
}
