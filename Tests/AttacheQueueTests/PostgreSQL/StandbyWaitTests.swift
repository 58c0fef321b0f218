import AttachePostgreSQL
import AttacheQueue
import Testing

/// Commits that wait for a synchronous standby that is not there.
@Suite(.timeLimit(.minutes(1))) struct StandbyWaitTests {
  @Test func `a call that waits for a standby too long says so, and has an unknown outcome`() throws {
    let test = try TestServerQueue()
    let other = try test.open(clock: SystemQueueClock())
    var opening = QueueOpening(creates: false)
    (opening.sync, opening.timeout) = (.always, .seconds(1))
    let queue = try PostgreSQLQueue(test.address, opening, connecting: Connecting(checkAfter: .milliseconds(100)))
    try test.administer("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
    var (count, error) = (0, nil as QueueError?)
    // The server's checkpointer lets commits wait, a moment after the setting is in force.
    while error == nil {
      do throws(QueueError) { count += try queue.enqueue([NewPayload("a")]) } catch let failure { error = failure }
    }
    // The commit is done, and completes.
    try test.administer("ALTER SYSTEM RESET synchronous_standby_names")
    guard case .unknown(let text) = error else { throw try #require(error) }
    #expect(text.contains("waits for a synchronous standby"), "\(text)")
    #expect(text.contains("given up after 1 s"), "\(text)")
    // The same batch again adds nothing twice.
    #expect(try queue.enqueue([NewPayload("a")]) == 1)
    #expect(try other.lease(10_000).count == count + 1)
  }
}

extension TestServerQueue {
  /// Changes the settings of the server as its superuser, and returns when they are in force.
  fileprivate func administer(_ change: String) throws {
    let before = try run("SELECT pg_conf_load_time()")
    try run(change, as: "postgres")
    try run("SELECT pg_reload_conf()", as: "postgres")
    while try run("SELECT pg_conf_load_time()") == before {}
  }
}
