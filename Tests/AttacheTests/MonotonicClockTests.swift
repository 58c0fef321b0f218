import AttacheTesting
import Synchronization
import Testing

@testable import Attache

@Suite(.timeLimit(.minutes(1))) struct MonotonicClockTests {
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
      simulation.makeBell().wait(until: start.advanced(by: .seconds(1)))
    }
    #expect(done.withLock { $0 } == Array(0...1_000))
  }
}
