import AttacheQueue
import Testing

@Suite(.timeLimit(.minutes(1))) struct PostgreSQLVersionTests {
  @Test(arguments: [0, 2]) func `a queue of another version is refused`(version: Int) throws {
    let test = try TestServerQueue()
    try test.open(clock: ManualQueueClock()).close()
    try test.run("UPDATE attache_\(test.name).queue SET version = \(version)")
    do {
      _ = try test.open(clock: ManualQueueClock())
      Issue.record("it was opened")
    } catch QueueError.unavailable(let text) {
      #expect(
        text.hasSuffix(
          ": the queue has version \(version) of the tables, and this attache needs version 1; finish the queue with the attache that made it, "
            + "or choose another queue"), "\(text)")
    }
    try test.run("UPDATE attache_\(test.name).queue SET version = 1")
    try test.open(creates: false, clock: ManualQueueClock()).close()
  }
}
