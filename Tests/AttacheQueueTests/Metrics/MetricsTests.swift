@testable import Attache
@testable import AttacheMetrics
@testable import AttacheQueue
import AttacheTesting
import Foundation
import Synchronization
import Testing

/// The metrics of a worker.
@Suite(.timeLimit(.minutes(1)))
struct MetricsTests {
  /// A machine whose clock the test sets.
  private struct ManualMachine: Machine {
    let clock = ManualClock()
    private let system = SystemMachine()

    var now: MonotonicInstant { clock.now }
    var processors: Int { 1 }
    var randomFraction: Double { 0 }

    func start(_ name: String, _ urgency: ThreadUrgency, _ body: @escaping @Sendable () -> Void) throws(SystemError) -> any StartedThread {
      try system.start(name, urgency, body)
    }
    func makeWakeSignal() throws(SystemError) -> any WakeSignal { try system.makeWakeSignal() }
    func makeInputGate() throws(SystemError) -> any InputGate { try system.makeInputGate() }
    func makePoller() throws(SystemError) -> any Poller { try system.makePoller() }
    func makeStreams() throws(SystemError) -> (any ByteStream, any ByteStream) { try system.makeStreams() }
  }

  private let machine = ManualMachine()
  private let queue = ListeningQueue()
  private let figures = WorkerMetrics()

  private func collector(
    _ queue: ListeningQueue? = nil, version: String = "1", pulses: [MetricsCollector.Pulse] = [{ $0(BreakerStates()) }]
  ) throws -> MetricsCollector {
    try MetricsCollector(queue ?? self.queue, figures, version: version, machine: machine, pulses: pulses)
  }

  @Test func `a process that waits for a lock is not ready, and says who holds it`() throws {
    let waits = LockWaits(clock: { [machine] in machine.now }, sleep: { [machine] in machine.clock.advance(by: $0) })
    let collector = try MetricsCollector(queue, figures, version: "1", machine: machine, pulses: [], waits: waits)
    collector.look()
    #expect(collector.readiness == .good)
    var wait: LockWait? = LockWait(waits, for: "/q/queue.db")
    while try #require(wait).pause({ "process 7 (cat, user x)" }), waits.current == nil {}
    #expect(collector.readiness == .bad("waiting for the lock of /q/queue.db, which process 7 (cat, user x) holds"))
    wait = nil
    #expect(collector.readiness == .good)
  }

  @Test func `what has not happened yet is there with 0`() throws {
    let metrics = try ParsedMetrics(try collector().text)
    #expect(metrics.value("attache_payloads_total", ["outcome": "attached", "reason": ""]) == 0)
    #expect(metrics.value("attache_payloads_total", ["outcome": "fallback", "reason": "http.status"]) == 0)
    #expect(metrics.value("attache_payloads_postponed_total", ["reason": "deadline"]) == 0)
    #expect(metrics.value("attache_queue_up") == 0)
    #expect(metrics.value("attache_queue_payloads", ["state": "ready"]) == nil)
  }

  @Test func `what a worker tells is counted by outcome and reason`() throws {
    figures.finished(.attached, nil, elapsed: .milliseconds(40), lateness: .seconds(-3), media: [])
    figures.finished(.fallback, .httpStatus, elapsed: .milliseconds(40), lateness: .zero, media: [])
    figures.finished(.fallback, .httpStatus, elapsed: .milliseconds(40), lateness: .milliseconds(3), media: [])
    figures.finished(.passthrough, .payloadEnriched, elapsed: .milliseconds(40), lateness: .seconds(9), media: [])
    figures.postponed(.dnsTimeout)
    figures.postponed(nil)
    figures.refused()
    figures.holding(7)
    let metrics = try ParsedMetrics(try collector().text)
    #expect(metrics.value("attache_payloads_total", ["outcome": "attached", "reason": ""]) == 1)
    #expect(metrics.value("attache_payloads_total", ["outcome": "fallback", "reason": "http.status"]) == 2)
    #expect(metrics.value("attache_payloads_total", ["outcome": "passthrough", "reason": "payload.enriched"]) == 1)
    #expect(metrics.value("attache_payloads_postponed_total", ["reason": "dns.timeout"]) == 1)
    #expect(metrics.value("attache_payloads_postponed_total", ["reason": ""]) == 1)
    #expect(metrics.value("attache_results_refused_total") == 1)
    #expect(metrics.value("attache_payloads_in_flight") == 7)
    #expect(metrics.value("attache_result_lateness_seconds_bucket", ["le": "0"]) == 2)
    #expect(metrics.value("attache_result_lateness_seconds_bucket", ["le": "0.005"]) == 3)
    #expect(metrics.value("attache_result_lateness_seconds_bucket", ["le": "+Inf"]) == 4)
    #expect(metrics.value("attache_result_lateness_seconds_sum") == 9.003)
    #expect(metrics.value("attache_payload_duration_seconds_bucket", ["le": "0.025"]) == 0)
    #expect(metrics.value("attache_payload_duration_seconds_bucket", ["le": "0.05"]) == 4)
  }

  @Test func `media are counted by where they came from, and timed when they took any time`() throws {
    let fetched = MediaRecord(url: "a", bytes: 500, attempts: 1, timing: .init(total: .milliseconds(120)))
    var kept = MediaRecord(url: "a", bytes: 500, cache: .hit)
    kept.converted = PictureConversion(from: .webp, size: 100, width: 1, height: 1)
    figures.finished(.attached, nil, elapsed: .milliseconds(40), lateness: .zero, media: [fetched, kept, fetched])
    let metrics = try ParsedMetrics(try collector().text)
    #expect(metrics.value("attache_media_total", ["cache": "miss"]) == 2)
    #expect(metrics.value("attache_media_total", ["cache": "hit"]) == 1)
    #expect(metrics.value("attache_media_received_bytes_total") == 1_000)
    #expect(metrics.value("attache_fetch_duration_seconds_count") == 2)
    #expect(metrics.value("attache_fetch_duration_seconds_bucket", ["le": "0.1"]) == 0)
    #expect(metrics.value("attache_fetch_duration_seconds_bucket", ["le": "0.25"]) == 2)
    #expect(metrics.value("attache_fetch_duration_seconds_sum") == 0.24)
    #expect(metrics.value("attache_conversions_total") == 1)
    #expect(metrics.value("attache_conversion_wait_seconds") == nil)
    figures.use(conversionWait: { .milliseconds(1_500) })
    #expect(try ParsedMetrics(try collector().text).value("attache_conversion_wait_seconds") == 1.5)
  }

  @Test func `the picture that comes now waits for the converters of the busiest fetcher`() {
    let load = ConversionLoad(converters: 2)
    #expect(load.wait == .zero)
    load.note(load: .seconds(3), of: 1)
    load.note(load: .seconds(1), of: 0)
    #expect(load.wait == .seconds(3))
    load.note(load: .zero, of: 1)
    #expect(load.wait == .seconds(1))
  }

  @Test func `the kernel's line about a process is read whatever the name of the process`() throws {
    let fields = "S 1 2 3 4 -1 5 6 7 8 9 150 50 0 0 20 0 4 0 3000 1000000 25 1 2"
    let usage = try #require(ProcessUsage(Array("12 (a) b (c) \(fields)\n".utf8), ticksPerSecond: 100, pageSize: 4_096))
    #expect((usage.processorTime, usage.startedAfterBoot) == (2, 30))
    #expect((usage.virtualBytes, usage.residentBytes) == (1_000_000, 102_400))
    for text in ["", "12 (a)", "12 (a) S 1 2", "12 (a) \(fields.replacing("3000", with: "x"))"] {
      #expect(ProcessUsage(Array(text.utf8)) == nil)
    }
  }

  @Test func `the process is there by the names that Prometheus' own clients use`() throws {
    let metrics = try ParsedMetrics(try collector().text)
    let names = [
      "cpu_seconds_total", "resident_memory_bytes", "virtual_memory_bytes", "start_time_seconds", "open_fds", "max_fds",
    ]
    for name in names { #expect(metrics.value("process_\(name)").map { $0 > 0 } == true, "\(name)") }
    let start = try #require(metrics.value("process_start_time_seconds"))
    #expect(abs(start - Date.now.timeIntervalSince1970) < 86_400)
  }

  @Test func `the queue and the origins stand as they were when they were last asked`() throws {
    var counts = QueueCounts()
    (counts[.ready], counts[.waiting], counts[.leased], counts[.done], counts[.dead], counts.unread) = (1, 2, 3, 4, 5, 6)
    counts.oldest[.leased] = .milliseconds(1_500)
    queue.stand(.success(counts))
    var (one, two) = (BreakerStates(), BreakerStates())
    (one.closed, one.open, two.open, two.probing) = (1, 2, 3, 4)
    let collector = try collector(pulses: [{ [one] in $0(one) }, { [two] in $0(two) }])
    collector.look()
    queue.stand(.success(QueueCounts()))
    let metrics = try ParsedMetrics(collector.text)
    for (state, count) in [("ready", 1.0), ("waiting", 2), ("leased", 3), ("done", 4), ("dead", 5)] {
      #expect(metrics.value("attache_queue_payloads", ["state": state]) == count)
    }
    #expect(metrics.value("attache_queue_unread_results") == 6)
    #expect(metrics.value("attache_queue_oldest_age_seconds", ["state": "leased"]) == 1.5)
    for (state, count) in [("closed", 1.0), ("open", 5), ("probing", 4)] {
      #expect(metrics.value("attache_origins", ["breaker": state]) == count)
    }
    #expect(metrics.value("attache_queue_up") == 1)
  }

  @Test func `the depth has a sample for each state and priority, and workers and their leases follow`() throws {
    var load = QueueLoad()
    load.depths = [.init(priority: 10, state: .ready, count: 3), .init(priority: 5, state: .leased, count: 2)]
    load.workers = [.init(name: "7", leases: 2, isPresent: true), .init(name: "4", leases: 1, isPresent: false)]
    queue.stand(load)
    let collector = try collector()
    #expect(try ParsedMetrics(collector.text).value("attache_queue_depth", ["state": "ready", "priority": "10"]) == nil)
    collector.look()
    let metrics = try ParsedMetrics(collector.text)
    let depths = try #require(metrics.families.first { $0.name == "attache_queue_depth" }).samples
    #expect(depths.count == 30)
    #expect(depths.map(\.value).reduce(0, +) == 5)
    #expect(metrics.value("attache_queue_depth", ["state": "ready", "priority": "10"]) == 3)
    #expect(metrics.value("attache_queue_depth", ["state": "leased", "priority": "5"]) == 2)
    #expect(metrics.value("attache_queue_leases", ["worker": "7"]) == 2)
    #expect(metrics.value("attache_queue_leases", ["worker": "4"]) == 1)
    #expect(metrics.value("attache_queue_workers", ["present": "yes"]) == 1)
    #expect(metrics.value("attache_queue_workers", ["present": "no"]) == 1)
    #expect(metrics.value("attache_queue_replication_wait_seconds") == nil)
  }

  @Test func `a queue with replication tells how many commits wait, and how long`() throws {
    var load = QueueLoad()
    load.replication = QueueLoad.Replication(waitingCommits: 3, longestWait: .milliseconds(1_500))
    queue.stand(load)
    let collector = try collector()
    collector.look()
    let metrics = try ParsedMetrics(collector.text)
    #expect(metrics.value("attache_queue_replication_waiting_commits") == 3)
    #expect(metrics.value("attache_queue_replication_wait_seconds") == 1.5)
    #expect(metrics.value("attache_queue_workers", ["present": "yes"]) == 0)
  }

  @Test func `a label's value and a help text are escaped`() throws {
    let metrics = try ParsedMetrics(try collector(version: "a\\b\"c\nd").text)
    #expect(metrics.value("attache_build_info", ["version": "a\\b\"c\nd"]) == 1)
    var text = MetricsText()
    text.gauge("x", "back\\slash\nand \"more\"", -.infinity)
    text.sample(.nan, ["a": "1"])
    #expect(text.text == "# HELP x back\\\\slash\\nand \"more\"\n# TYPE x gauge\nx -Inf\nx{a=\"1\"} NaN\n")
  }

  @Test func `a worker is ready while its queue answers and it claims`() throws {
    let collector = try collector()
    #expect(collector.readiness == .bad("starting: the queue has not answered yet"))
    collector.look()
    #expect(collector.readiness == .good)
    queue.stand(.failure(.failed("no database")))
    collector.look()
    #expect(collector.readiness == .bad("the queue fails: no database"))
    #expect(try ParsedMetrics(collector.text).value("attache_queue_up") == 0)
    queue.stand(.success(QueueCounts()))
    collector.look()
    #expect(collector.readiness == .good)
    collector.drain()
    #expect(collector.readiness == .bad("draining: no more payloads are claimed"))
    #expect(collector.liveness == .good)
  }

  @Test func `a worker whose commits wait for a standby is not ready`() throws {
    let collector = try collector()
    var load = QueueLoad()
    for (wait, health) in [
      (9, ProcessHealth.good), (12, .bad("a commit has waited for a synchronous standby for 12 s")), (0, .good),
    ] {
      load.replication = .init(waitingCommits: wait > 0 ? 1 : 0, longestWait: .seconds(wait))
      queue.stand(load)
      collector.look()
      #expect(collector.readiness == health)
    }
  }

  @Test func `a queue that does not answer is told while it does not`() throws {
    let found = Mutex<ProcessHealth>(.good)
    let collecting = Mutex<MetricsCollector?>(nil)
    let queue = ListeningQueue { [machine] number in
      guard number == 2 else { return }
      machine.clock.advance(by: .seconds(12))
      found.withLock { $0 = collecting.withLock { $0 }?.readiness ?? .good }
      let text = collecting.withLock { $0 }?.text ?? ""
      #expect(text.contains("attache_queue_up 0\n") && !text.contains("attache_queue_payloads"))
    }
    let collector = try collector(queue)
    collecting.withLock { $0 = collector }
    collector.look()
    collector.look()
    #expect(found.withLock { $0 } == .bad("the queue has not answered for 12 s"))
    #expect(collector.readiness == .good)
    #expect(collector.text.contains("attache_queue_up 1\n") && collector.text.contains("attache_queue_payloads"))
  }

  @Test func `a process whose loop does not turn is not alive, and is not asked again meanwhile`() throws {
    let asked = Mutex<[@Sendable (BreakerStates) -> Void]>([])
    let collector = try collector(pulses: [{ $0(BreakerStates()) }, { answer in asked.withLock { $0.append(answer) } }])
    collector.look()
    #expect(collector.liveness == .good)
    machine.clock.advance(by: .seconds(11))
    collector.look()
    #expect(collector.liveness == .bad("a fetcher's event loop has not run for 11 s"))
    #expect(asked.withLock(\.count) == 1)
    for answer in asked.withLock({ $0 }) { answer(BreakerStates()) }
    #expect(collector.liveness == .good)
  }

  @Test func `the collector looks on a thread of its own until it is stopped`() async throws {
    let (looks, look) = AsyncStream.makeStream(of: Void.self)
    let collector = try MetricsCollector(queue, figures, interval: .milliseconds(1), version: "1", pulses: [])
    try collector.start { look.yield() }
    var iterator = looks.makeAsyncIterator()
    for _ in 0..<3 { _ = await iterator.next() }
    collector.stop()
    #expect(collector.readiness == .good)
  }

  @Test func `a file holds whole figures, and what cannot be written leaves it as it was`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "attache-figures-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let file = MetricsFile(folder + "/attache.prom")
    try file.write("one\n")
    try file.write("two\n")
    #expect(try String(contentsOfFile: file.path, encoding: .utf8) == "two\n")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["attache.prom"])
    #expect(throws: SystemError(call: "open", number: ENOENT)) { try MetricsFile(folder + "/none/attache.prom").write("x") }
    #expect(throws: SystemError(call: "rename", number: EISDIR)) { try MetricsFile(folder).write("x") }
  }
}
