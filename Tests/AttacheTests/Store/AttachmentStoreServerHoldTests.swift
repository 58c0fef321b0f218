@testable import Attache
import Glibc
import Testing

/// Holds for a queue on a server, which has no path that shows whether it exists.
@Suite struct AttachmentStoreServerHoldTests {
  let folder = AttachmentStoreTestFolder()
  let clock = TestWallClock()
  private let queue = HoldOwner.server(name: "postgresql://db1/push", identity: "6f1c")

  private func store() throws -> AttachmentStore {
    try AttachmentStore(directory: folder.path, maximumBytes: 1000, maximumAge: .seconds(1)) { [clock] in clock.now }
  }

  /// Holds a file, and ends the process's use of the queue.
  private func held(for owner: HoldOwner? = nil) throws -> (StoredFile, link: String) {
    let store = try store()
    let file = try store.add([1])
    return (file, try store.hold([file], for: owner ?? queue)[0])
  }

  private func isThere(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

  @Test func `the holds of a queue that nothing has used for 90 days are removed`() throws {
    let (file, link) = try held()
    clock.turn(by: StoreHolds.unusedTimeLimit - .seconds(1))
    #expect(try store().prune()?.filesRemoved == 0)
    #expect(isThere(link))
    clock.turn(by: .seconds(1))
    #expect(try store().prune()?.filesRemoved == 1)
    #expect(!isThere(link))
    #expect(try !store().touch(file))
    #expect(folder.files.filter { $0.hasPrefix(".held/") } == [])
  }

  @Test func `a process that has used the queue keeps its holds as long as it lives, and 90 days more`() throws {
    let user = try store()
    let link = try user.hold([user.add([1])], for: queue)[0]
    for _ in 0..<3 {
      clock.turn(by: StoreHolds.unusedTimeLimit)
      try store().prune()
      #expect(isThere(link))
    }
    withExtendedLifetime(user) {}
  }

  @Test(arguments: [false, true]) func `a use starts the 90 days again`(onlyReleases: Bool) throws {
    let (_, link) = try held()
    clock.turn(by: StoreHolds.unusedTimeLimit - .seconds(10))
    if onlyReleases {
      // Such as a deliverer, which does not open the store.
      let parent = String(link.dropLast(69))
      let descriptor = unsafe open(parent, O_RDONLY | O_DIRECTORY)
      defer { close(descriptor) }
      let use = try #require(HoldsUse(in: descriptor, at: parent))
      clock.turn(by: .seconds(10))
      try store().prune()
      #expect(isThere(link))
      withExtendedLifetime(use) {}
    } else {
      try store().noteUse(of: queue)
    }
    clock.turn(by: StoreHolds.unusedTimeLimit - .seconds(1))
    try store().prune()
    #expect(isThere(link))
  }

  @Test func `a wall clock that was set back does not shorten the 90 days`() throws {
    clock.turn(by: .seconds(1_000_000_000))
    let (_, link) = try held()
    clock.turn(by: .seconds(-1_000_000_000))
    try store().prune()
    clock.turn(by: StoreHolds.unusedTimeLimit - .seconds(1))
    try store().prune()
    #expect(isThere(link))
  }

  @Test func `a queue is one, whatever its address, and two queues at one address are two`() throws {
    let (_, link) = try held()
    let renamed = HoldOwner.server(name: "postgresql://db2/push", identity: "6f1c")
    let other = HoldOwner.server(name: "postgresql://db1/push", identity: "77aa")
    #expect(try held(for: renamed).link == link)
    #expect(try held(for: other).link != link)
    let place = try store().holdsFolder(of: queue)
    #expect(AttachmentStore.isHoldsFolder(place, of: renamed))
    #expect(!AttachmentStore.isHoldsFolder(place, of: other))
    #expect(folder.bytes(String(place.dropFirst(folder.path.utf8.count + 1)) + "/queue") == Array("postgresql://db1/push".utf8))
  }

  @Test func `the folder of a queue whose identity is unknown belongs to no queue alone`() throws {
    let owner = HoldOwner.server(name: "postgresql://db1/push", identity: nil)
    let place = try store().holdsFolder(of: owner)
    #expect(try held(for: owner).link.hasPrefix(place + "/"))
    #expect(!AttachmentStore.isHoldsFolder(place, of: owner))
  }
}
