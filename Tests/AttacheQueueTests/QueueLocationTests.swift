@testable import AttacheQueue
import Testing

/// The addresses of queues, and kinds that another module adds.
@Suite struct QueueLocationTests {
  private func refusal(_ text: String) -> String? {
    do throws(QueueAddressError) {
      _ = try QueueLocation(parsing: text)
      return nil
    } catch {
      return error.description
    }
  }

  @Test(arguments: ["sqlite:/a b", "sqlite:push.db", "sqlite:a:b", "sqlite://x"])
  func `an address parses and prints as it was written`(text: String) throws {
    let location = try QueueLocation(parsing: text)
    #expect(location.description == text)
    #expect(location == QueueLocation(location.description))
    #expect(location.address.path == String(text[text.index(after: text.firstIndex(of: ":")!)...]))
    #expect(!location.isOnServer)
  }

  @Test(arguments: ["push.db", "", ":x", "redis:x", "SQLITE:x", "sqlite:a\0b"])
  func `a text without a known scheme is refused with the forms`(text: String) {
    #expect(refusal(text)?.hasPrefix("the forms of a queue's address are sqlite:PATH") == true)
    #expect(QueueLocation(text) == nil)
  }

  @Test(arguments: ["sqlite:"]) func `a path must not be empty`(text: String) {
    #expect(refusal(text)?.hasPrefix("the path is missing") == true)
  }

  @Test func `two addresses are the same if their kinds and their texts are`() {
    #expect(QueueLocation.sqlite(path: "q") == QueueLocation("sqlite:q"))
    #expect(Set([QueueLocation.sqlite(path: "q"), .sqlite(path: "q"), .sqlite(path: "r")]).count == 2)
  }

  @Test func `the files of a queue are those that an output must not be`() {
    #expect(QueueLocation.sqlite(path: "q").address.files == ["q-journal", "q-wal", "q-shm", "q-workers", "q"])
  }

  @Test func `a kind that is registered is known by each of its schemes, and says why it opens nothing`() throws {
    QueueLocation.register(ServerAddress.self)
    QueueLocation.register(ServerAddress.self)
    #expect(QueueLocation.forms == "sqlite:PATH, server://NAME")
    let location = try QueueLocation(parsing: "servers://db1")
    #expect(location.description == "server://db1")
    #expect(location.address.path == nil)
    #expect(location.address.files == [])
    #expect(location.isOnServer)
    #expect(location.holdOwner == nil)
    #expect(refusal("server://user:secret@db1") == "a password does not belong in the address")
    #expect(throws: QueueError.unavailable("db1: no answer for 300 s")) { try location.open(creates: true) }
    #expect(throws: QueueError.unavailable("db1: no answer for 7 s")) { try location.open(creates: true, timeout: .seconds(7)) }
    #expect(throws: QueueError.unavailable("db1: no server")) { try location.remove() }
  }
}
