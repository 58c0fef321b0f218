import AttacheTesting
import Synchronization
import Testing

@testable import Attache

@Suite(.timeLimit(.minutes(1))) struct MonotonicClockTests {
  @Test func `who begins something new waits until what is due is done`() throws {
    let simulation = Simulation(seed: 1)
    let start = simulation.now
    let moment: @Sendable (Int64) -> MonotonicInstant = { start.advanced(by: .milliseconds($0)) }
    let done = Mutex<[String]>([])
    let note: @Sendable (String) -> Void = { name in done.withLock { $0.append(name) } }
    _ = try simulation.run {
      guard let clock = try? MonotonicClock(machine: simulation) else { return }
      _ = clock.schedule(at: moment(10)) {
        simulation.makeWakeSignal().wait(until: moment(30))
        note("slow")
      }
      _ = clock.schedule(at: moment(12)) { note("due") }
      _ = clock.schedule(at: moment(500)) { note("later") }
      clock.waitForOverdueTimers()
      note("early")
      simulation.makeWakeSignal().wait(until: moment(20))
      clock.waitForOverdueTimers()
      note("new")
      simulation.makeWakeSignal().wait(until: moment(600))
    }
    #expect(done.withLock { $0 } == ["early", "slow", "due", "new", "later"])
  }

  @Test func `what is due together is done in order of time, and what is added meanwhile too`() throws {
    let simulation = Simulation(seed: 2)
    let start = simulation.now
    let done = Mutex<[Int]>([])
    _ = try simulation.run {
      guard let clock = try? MonotonicClock(machine: simulation) else { return }
      for number in (0..<1_000).reversed() {
        _ = clock.schedule(at: start.advanced(by: .microseconds(number))) {
          done.withLock { $0.append(number) }
          guard number == 999 else { return }
          _ = clock.schedule(at: start) { done.withLock { $0.append(1_000) } }
        }
      }
      simulation.makeWakeSignal().wait(until: start.advanced(by: .seconds(1)))
    }
    #expect(done.withLock { $0 } == Array(0...1_000))
  }
}
