import AttacheQueue
import Glibc
import Testing

@Suite struct WorkerSlotTests {
  @Test func `a worker is told from one that left and one that died`() throws {
    let test = try TestQueue(.sqlite)
    let path = test.folder + "/workers"
    let looking = try WorkerSlot(path: path)
    let running = try WorkerSlot(path: path)
    let leaving = try WorkerSlot(path: path)
    var dying: WorkerSlot? = try WorkerSlot(path: path)
    let numbers = try [running.enter(), leaving.enter(), try #require(try dying?.enter())]
    #expect(numbers == [1, 2, 3])
    #expect(numbers.map(looking.holder) == [.running, .running, .running])
    leaving.leave()
    dying = nil
    #expect(numbers.map(looking.holder) == [.running, .closed, .died])
    #expect(numbers.map(running.holder) == [.running, .closed, .died])
    #expect(looking.holder(4) == .unknown)
  }

  @Test func `the workers that run are found among all that ever existed`() throws {
    let test = try TestQueue(.sqlite)
    let path = test.folder + "/workers"
    let looking = try WorkerSlot(path: path)
    #expect(looking.present(upTo: 10) == [])
    let slots = try (0..<20).map { _ in try WorkerSlot(path: path) }
    for slot in slots { _ = try slot.enter() }
    for (index, slot) in slots.enumerated() where ![2, 3, 11, 19].contains(index) { slot.leave() }
    #expect(looking.present(upTo: 10).sorted() == [3, 4, 12, 20])
    #expect(looking.present(upTo: 2).count == 2)
    // A handle sees its own lock as well.
    #expect(slots[11].present(upTo: 10).sorted() == [3, 4, 12, 20])
    #expect(try looking.enterDelivery(.reader))
    #expect(slots[11].present(upTo: 10).count == 4)
  }

  @Test func `a worker keeps its number, and nobody else ever gets it`() throws {
    let test = try TestQueue(.sqlite)
    let path = test.folder + "/workers"
    let first = try WorkerSlot(path: path)
    #expect(first.current == nil)
    #expect(try first.enter() == 1)
    #expect(try first.enter() == 1)
    #expect(first.current == 1)
    first.leave()
    #expect(first.current == nil)
    #expect(try WorkerSlot(path: path).enter() == 2)
    #expect(try WorkerSlot(path: path).enter() == 3)
  }

  @Test func `who leaves without a number leaves nothing behind`() throws {
    let test = try TestQueue(.sqlite)
    let path = test.folder + "/workers"
    try WorkerSlot(path: path).leave()
    #expect(try WorkerSlot(path: path).enter() == 1)
  }

  @Test func `a file that was cut while a worker runs has room for another`() throws {
    let test = try TestQueue(.sqlite)
    let path = test.folder + "/workers"
    let (first, second) = (try WorkerSlot(path: path), try WorkerSlot(path: path))
    #expect(try first.enter() == 1)
    #expect(unsafe truncate(path, 0) == 0)
    #expect(try second.enter() == 2)
    #expect(first.holder(2) == .running)
    #expect(second.holder(1) == .running)
  }
}
