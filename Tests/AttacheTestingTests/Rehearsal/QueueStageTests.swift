@testable import AttacheTesting
import Testing

/// The queues of a rehearsal on a server.
@Suite struct QueueStageTests {
  @Test func `each scenario has a queue of its own, whatever else the URI says`() throws {
    let (one, two) = (QueueStage.ownQueue(at: "postgresql://db/push"), QueueStage.ownQueue(at: "postgresql://db/push"))
    #expect(one != two)
    #expect(try #require(one.wholeMatch(of: /postgresql:\/\/db\/push\?queue=([a-z0-9_]{1,40})/)).1.hasPrefix("rehearsal_"))
    #expect(QueueStage.ownQueue(at: "postgresql:///push?host=/run").hasPrefix("postgresql:///push?host=/run&queue=rehearsal_"))
  }

  @Test(arguments: [
    ("postgresql:///push?host=/run/postgresql", true), ("postgresql:///push?user=a&host=%2Frun", true), ("postgresql://%2Frun/push", true),
    ("postgresql://me@%2frun/push", true), ("postgresql://localhost/push", false), ("postgresql:///push", false),
    ("postgresql://db/push?host=/run", false), ("postgresql:///push?host=db", false),
  ])
  func `a server is reached from another network only through a folder`(uri: String, isSocket: Bool) {
    #expect(QueueStage.isSocket(uri) == isSocket)
  }

  @Test func `the kind of a server's queue is its scheme`() {
    #expect(QueueRehearsal.Place.server(uri: "postgresql://db/push").kind == "postgresql")
    #expect(QueueRehearsal(.sqlite).place.kind == "sqlite")
  }
}
