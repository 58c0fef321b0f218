import Attache
import Testing

@testable import AttacheTesting

/// When a command's lines are due, when its input ends, and when it counts as hung.
struct CommandTimingTests {
  private static let start = MonotonicInstant(nanoseconds: 0)

  private func timing(_ count: Int, jobs: Int = 256) -> CommandTiming {
    let limits = CommandTiming.Limits(deadline: .seconds(1), slack: .milliseconds(100), hangAfter: .seconds(2), jobs: jobs)
    return CommandTiming(count: count, limits: limits, start: Self.start)
  }

  private func after(_ milliseconds: Int) -> MonotonicInstant {
    Self.start.advanced(by: .milliseconds(milliseconds))
  }

  @Test func `a line's clock starts when it is taken`() {
    var timing = timing(2)
    #expect(timing.due(0) == nil)
    timing.take(1, at: after(50))
    timing.take(2, at: after(70))
    #expect(timing.due(0) == after(1_050))
    #expect(timing.due(1) == after(1_070))
    #expect(timing.due(2) == nil)
  }

  @Test func `a line beyond the jobs waits for the answer that gives it a place`() {
    var timing = timing(3, jobs: 1)
    timing.take(3, at: after(10))
    #expect(timing.due(1) == nil)
    timing.answer(at: after(900))
    #expect(timing.due(1) == after(1_900))
    #expect(timing.due(2) == nil)
    #expect(timing.lastDue == after(1_900))
  }

  @Test func `the input ends when all is answered, or when nothing more can come in time`() {
    var timing = timing(1)
    timing.take(1, at: after(10))
    #expect(!timing.inputEnds(at: after(1_109)))
    #expect(timing.inputEnds(at: after(1_110)))
    timing.answer(at: after(20))
    #expect(timing.inputEnds(at: after(20)))
  }

  @Test func `who takes nothing has the time to start and a deadline`() {
    let timing = timing(1)
    #expect(timing.lastDue == after(3_000))
    #expect(timing.hangs == after(5_100))
  }

  @Test func `who takes one line after the other has a deadline for each`() {
    var timing = timing(3)
    timing.take(1, at: after(10))
    #expect(timing.lastDue == after(1_010))
    timing.answer(at: after(800))
    #expect(timing.lastDue == after(1_800))
    timing.take(2, at: after(1_500))
    #expect(timing.lastDue == after(2_500))
  }

  @Test func `an empty input ends at once`() {
    #expect(timing(0).inputEnds(at: Self.start))
    #expect(timing(0).hangs == after(2_100))
  }
}
