import AttacheQueue
import Testing

/// How payloads without a result are distributed.
@Suite struct QueueLoadTests {
  private func depths(_ queue: any PayloadQueue) throws -> Set<QueueLoad.Depth> { Set(try queue.load().depths) }

  @Test(arguments: QueueBackend.allCases)
  func `the load has each state and priority that has payloads without a result`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open()
    #expect(try queue.load().depths == [])
    _ = try queue.enqueue([
      NewPayload("a"), NewPayload("b") { $0.priority = 5 }, NewPayload("c") { $0.priority = 5 }, NewPayload("d") { $0.priority = 1 },
      NewPayload("later") { [wall = test.clock.wall] in ($0.priority, $0.notBefore) = (7, wall + .seconds(10)) },
      NewPayload("first") { $0.priority = 99 }, NewPayload("last") { $0.priority = -3 },
    ])
    #expect(
      try depths(queue) == [
        .init(priority: 10, state: .ready, count: 2), .init(priority: 5, state: .ready, count: 2),
        .init(priority: 1, state: .ready, count: 2), .init(priority: 7, state: .waiting, count: 1),
      ])
    let leases = try queue.lease(3)
    #expect(try queue.finish([leases[0].finished()]) == [])
    #expect(
      try depths(queue) == [
        .init(priority: 10, state: .leased, count: 1), .init(priority: 5, state: .leased, count: 1),
        .init(priority: 5, state: .ready, count: 1), .init(priority: 1, state: .ready, count: 2),
        .init(priority: 7, state: .waiting, count: 1),
      ])
  }

  @Test(arguments: QueueBackend.allCases)
  func `the load has the leases of each worker, and tells who is present`(_ backend: QueueBackend) throws {
    let test = try TestQueue(backend)
    let queue = try test.open(with: ["a", "b", "c"])
    let (busy, idle, closed) = (try test.open(), try test.open(), try test.open())
    var dying: (any PayloadQueue)? = try test.open()
    #expect(try busy.lease(2).count == 2)
    #expect(try dying?.lease(1).count == 1)
    #expect(try closed.lease().isEmpty)
    closed.close()
    dying = nil
    #expect(dying == nil)
    var load = try queue.load()
    #expect(load.workers.map(\.leases) == [2, 1])
    #expect(load.workers.map(\.isPresent) == [true, false])
    #expect(Set(load.workers.map(\.name)).count == 2)
    // It takes over what the dead worker had.
    #expect(try idle.lease().count == 1)
    load = try queue.load()
    #expect(load.workers.map(\.leases) == [2, 1])
    #expect(load.workers.map(\.isPresent) == [true, true])
  }

  @Test func `a worker without leases is present`() throws {
    let test = try TestQueue(.sqlite)
    let (queue, other) = (try test.open(), try test.open())
    #expect(try queue.load().workers == [])
    _ = try other.lease()
    #expect(try queue.load().workers == [QueueLoad.Worker(name: "1", leases: 0, isPresent: true)])
    #expect(try other.load().workers == queue.load().workers)
    #expect(try queue.load().replication == nil)
  }

  @Test func `counting stops at a limit, and what is left belongs to the only priority that has more`() throws {
    let test = try TestQueue(.sqlite)
    let queue = try test.open()
    let limit = QueueLoad.countLimit
    func add(_ count: Int, priority: Int) throws {
      _ = try queue.enqueue((0..<count).map { _ in NewPayload("x") { $0.priority = priority } })
    }
    try add(limit + 5, priority: 10)
    try add(3, priority: 5)
    #expect(
      try depths(queue) == [.init(priority: 10, state: .ready, count: limit + 5), .init(priority: 5, state: .ready, count: 3)])
    try add(limit, priority: 5)
    #expect(try depths(queue) == [.init(priority: 10, state: .ready, count: limit), .init(priority: 5, state: .ready, count: limit)])
  }

  @Test func `the priorities of many payloads that wait are estimated from some, and their number is exact`() throws {
    let test = try TestQueue(.sqlite)
    let queue = try test.open()
    let later = test.clock.wall + .seconds(10)
    _ = try queue.enqueue(
      (0..<3 * QueueLoad.sampleLimit).map { number in NewPayload("x") { ($0.priority, $0.notBefore) = (number % 2 == 0 ? 10 : 5, later) } })
    #expect(
      try depths(queue) == [
        .init(priority: 10, state: .waiting, count: 3 * QueueLoad.sampleLimit / 2),
        .init(priority: 5, state: .waiting, count: 3 * QueueLoad.sampleLimit / 2),
      ])
  }

  @Test func `leases of another start of the machine have no worker that is present`() throws {
    let test = try TestQueue(.sqlite)
    let queue = try test.open(with: ["a"])
    _ = try queue.lease()
    test.clock.startAgain()
    #expect(try queue.load().workers == [QueueLoad.Worker(name: "1", leases: 1, isPresent: false)])
  }
}
