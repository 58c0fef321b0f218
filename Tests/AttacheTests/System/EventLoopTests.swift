import AttacheTesting
import Synchronization
import Testing

@testable import Attache

@Suite(.timeLimit(.minutes(1))) struct EventLoopTests {
  private final class Lag: Sendable {
    let isOverdue = Atomic(true)
  }

  private static let many = 10_000

  @Test func `all that was posted is done in order before the loop ends, chores included`() throws {
    let simulation = Simulation(seed: 1)
    let done = Mutex<[Int]>([])
    let chores = Mutex<[Int]>([])
    _ = try simulation.run {
      guard let loop = try? EventLoop(machine: simulation) else { return }
      for number in 0..<Self.many {
        loop.post {
          done.withLock { $0.append(number) }
          loop.postLowPriority { chores.withLock { $0.append(number) } }
        }
      }
      loop.stop()
    }
    #expect(done.withLock { $0 } == Array(0..<Self.many))
    #expect(chores.withLock { $0 } == Array(0..<Self.many))
  }

  @Test func `what is done at the end of a turn is a step too`() throws {
    let simulation = Simulation(seed: 4)
    let isMarked = Mutex<[Bool]>([])
    _ = try simulation.run {
      guard let loop = try? EventLoop(machine: simulation) else { return }
      let mark = Mutex(false)
      loop.atTurnEnd { mark.withLock { $0 = true } }
      loop.post { loop.atStepEnd { mark.withLock { $0 = false } } }
      loop.post {
        _ = loop.schedule(at: loop.now.advanced(by: .seconds(1))) {
          isMarked.withLock { $0.append(mark.withLock { $0 }) }
          loop.stop()
        }
      }
    }
    #expect(isMarked.withLock { $0 } == [false])
  }

  @Test func `a step ends before the next one of the same turn begins`() throws {
    let simulation = Simulation(seed: 3)
    let done = Mutex<[String]>([])
    _ = try simulation.run {
      guard let loop = try? EventLoop(machine: simulation) else { return }
      loop.post {
        loop.atStepEnd { done.withLock { $0.append("end") } }
        _ = loop.schedule(at: loop.now) { done.withLock { $0.append("timer") } }
        loop.later { done.withLock { $0.append("work") } }
      }
      loop.stop()
    }
    #expect(done.withLock { $0 } == ["end", "work", "end", "timer", "end"])
  }

  @Test func `timers are served between the portions of a long queue`() throws {
    let simulation = Simulation(seed: 2)
    let done = Mutex(0)
    let doneBefore = Mutex<Int?>(nil)
    _ = try simulation.run {
      guard let loop = try? EventLoop(machine: simulation) else { return }
      loop.post {
        for _ in 0..<Self.many { loop.post { done.withLock { $0 += 1 } } }
        _ = loop.schedule(at: loop.now) { doneBefore.withLock { $0 = done.withLock { $0 } } }
      }
      loop.post { loop.post { loop.stop() } }
    }
    #expect(done.withLock { $0 } == Self.many)
    #expect(try #require(doneBefore.withLock { $0 }) < Self.many)
  }

  @Test func `work does not wait behind chores`() throws {
    let simulation = Simulation(seed: 3)
    let done = Mutex(0)
    let doneBefore = Mutex<Int?>(nil)
    _ = try simulation.run {
      guard let loop = try? EventLoop(machine: simulation) else { return }
      loop.post {
        for _ in 0..<Self.many { loop.postLowPriority { done.withLock { $0 += 1 } } }
        loop.post { doneBefore.withLock { $0 = done.withLock { $0 } } }
      }
      simulation.makeWakeSignal().wait(until: simulation.now.advanced(by: .seconds(1)))
      loop.stop()
    }
    #expect(done.withLock { $0 } == Self.many)
    #expect(try #require(doneBefore.withLock { $0 }) < Self.many)
  }

  @Test(arguments: [false, true]) func `low-priority work waits while a timer is overdue, and no longer`(isStopped: Bool) throws {
    let simulation = Simulation(seed: 4)
    let lag = Lag()
    let log = Mutex<[String]>([])
    let note: @Sendable (String) -> Void = { word in log.withLock { $0.append(word) } }
    _ = try simulation.run {
      let wakeSignal = simulation.makeWakeSignal()
      let wait = { wakeSignal.wait(until: simulation.now.advanced(by: .seconds(1))) }
      guard let loop = try? EventLoop(machine: simulation, isOverdue: { lag.isOverdue.load(ordering: .relaxed) }) else { return }
      loop.post { loop.postLowPriority { note("low-priority work") } }
      loop.post { note("work") }
      wait()
      note("a second")
      if isStopped { loop.stop() } else { lag.isOverdue.store(false, ordering: .relaxed) }
      wait()
      note("another")
      loop.stop()
    }
    #expect(log.withLock { $0 } == ["work", "a second", "low-priority work", "another"])
  }
}
