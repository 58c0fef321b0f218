import Attache
import Foundation
import Synchronization
import Testing

@testable import AttacheTesting

@Suite(.timeLimit(.minutes(1)))
struct SimulationTests {
  @Test
  func `time jumps to the next moment that somebody waits for, and no further`() throws {
    let simulation = Simulation(seed: 1)
    let start = simulation.now
    let seen = Mutex<[Duration]>([])
    let ending = try simulation.run {
      for seconds in [3600, 1, 60] {
        _ = try? simulation.start("sleeper") {
          simulation.makeWakeSignal().wait(until: start.advanced(by: .seconds(seconds)))
          seen.withLock { $0.append(start.duration(to: simulation.now)) }
        }
      }
    }
    #expect(ending == .finished)
    #expect(seen.withLock { $0 } == [.seconds(1), .seconds(60), .seconds(3600)])
  }

  @Test
  func `a ring ends a wait at the moment of the ring, and is remembered for the next wait`() throws {
    let simulation = Simulation(seed: 2)
    let start = simulation.now
    let wakeSignal = simulation.makeWakeSignal()
    let woken = Mutex<[Duration]>([])
    let ending = try simulation.run {
      let thread = try? simulation.start("waiter") {
        for limit in [Duration.seconds(10), .seconds(20)] {
          wakeSignal.wait(until: start.advanced(by: limit))
          woken.withLock { $0.append(start.duration(to: simulation.now)) }
        }
      }
      simulation.makeWakeSignal().wait(until: start.advanced(by: .seconds(4)))
      wakeSignal.ring()
      thread?.join()
    }
    #expect(ending == .finished)
    #expect(woken.withLock { $0 } == [.seconds(4), .seconds(20)])
  }

  @Test
  func `a wait for a time that has come is over at once`() throws {
    let simulation = Simulation(seed: 3)
    let start = simulation.now
    let ending = try simulation.run { simulation.makeWakeSignal().wait(until: start) }
    #expect(ending == .finished)
    #expect(simulation.now == start)
  }

  @Test
  func `nobody waits for work`() throws {
    let simulation = Simulation(seed: 4)
    let start = simulation.now
    _ = try simulation.run {
      var sum = 0
      for number in 0..<100_000 { sum &+= number }
      #expect(sum > 0)
    }
    #expect(simulation.now == start)
  }

  @Test
  func `who waits for what cannot come hangs, and leaves no thread behind`() async throws {
    await #expect(processExitsWith: .success) {
      for seed in UInt64(0)..<50 {
        let simulation = Simulation(seed: seed)
        let ending = try simulation.run {
          _ = try? simulation.start("other") { simulation.makeWakeSignal().wait(until: nil) }
          simulation.makeWakeSignal().wait(until: nil)
        }
        #expect(ending == .hung)
      }
      // The kernel lists a thread for a moment after it has been joined, and gives no event for its
      // end, so this polls, for ten seconds at most.
      let end = MonotonicInstant.now.advanced(by: .seconds(10))
      var threads: [String]
      repeat {
        threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").filter { number in
          let name = (try? String(contentsOfFile: "/proc/self/task/\(number)/comm", encoding: .utf8)) ?? ""
          return ["other\n", "main\n"].contains(name)
        }
        sched_yield()
      } while !threads.isEmpty && MonotonicInstant.now < end
      #expect(threads.isEmpty)
    }
  }

  @Test
  func `a thread that is blocked for ever is no hang when all else has ended`() throws {
    let simulation = Simulation(seed: 5)
    let ending = try simulation.run {
      _ = try? simulation.start("blocked") { simulation.makeWakeSignal().wait(until: nil) }
    }
    #expect(ending == .finished)
  }

  @Test
  func `who never comes to his end while time passes hangs too`() throws {
    let simulation = Simulation(seed: 6, horizon: .seconds(60))
    let ending = try simulation.run {
      let wakeSignal = simulation.makeWakeSignal()
      while true { wakeSignal.wait(until: simulation.now.advanced(by: .seconds(1))) }
    }
    #expect(ending == .hung)
  }

  @Test
  func `the same seed is the same interleaving, another seed is another`() throws {
    let runs = try (UInt64(0)..<20).map { seed in (try race(seed), try race(seed)) }
    for (first, second) in runs {
      #expect(first.order == second.order)
      #expect(first.fingerprint == second.fingerprint)
    }
    #expect(Set(runs.map(\.0.order)).count > 10)
  }

  @Test
  func `one thread at a time runs`() throws {
    let simulation = Simulation(seed: 7)
    let running = Atomic<Int>(0)
    let most = Atomic<Int>(0)
    _ = try simulation.run {
      for _ in 0..<8 {
        _ = try? simulation.start("worker") {
          for _ in 0..<100 {
            let now = running.wrappingAdd(1, ordering: .relaxed).newValue
            most.max(now, ordering: .relaxed)
            running.wrappingSubtract(1, ordering: .relaxed)
            simulation.makeWakeSignal().ring()
          }
        }
      }
    }
    #expect(most.load(ordering: .relaxed) == 1)
  }

  @Test
  func `the real clock keeps simulated time`() throws {
    let simulation = Simulation(seed: 8)
    let start = simulation.now
    let rung = Mutex<[Duration]>([])
    let ending = try simulation.run {
      guard let clock = try? MonotonicClock(machine: simulation) else { return }
      let done = simulation.makeWakeSignal()
      for milliseconds in [500, 30_000, 1] {
        _ = clock.schedule(at: start.advanced(by: .milliseconds(milliseconds))) {
          let count = rung.withLock { rung in
            rung.append(start.duration(to: clock.now))
            return rung.count
          }
          if count == 3 { done.ring() }
        }
      }
      done.wait(until: nil)
    }
    #expect(ending == .finished)
    #expect(rung.withLock { $0 } == [.milliseconds(1), .milliseconds(500), .seconds(30)])
  }

  /// Four threads that wake one another, and the order in which they ran.
  private func race(_ seed: UInt64) throws -> (order: [Int], fingerprint: UInt64) {
    let simulation = Simulation(seed: seed)
    let order = Mutex<[Int]>([])
    _ = try simulation.run {
      let wakeSignals = (0..<4).map { _ in simulation.makeWakeSignal() }
      for number in 0..<4 {
        _ = try? simulation.start("racer") {
          for _ in 0..<5 {
            order.withLock { $0.append(number) }
            wakeSignals[(number + 1) % 4].ring()
            wakeSignals[number].wait(until: simulation.now.advanced(by: .milliseconds(1)))
          }
        }
      }
    }
    return (order.withLock { $0 }, simulation.fingerprint)
  }
}
