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

  @Test func `a line's clock starts after the waits for a place of all lines that were read before it`() {
    var timing = timing(4)
    timing.take(3, at: after(10))
    for time in [900, 1_500, 2_000] { timing.answer(at: after(time)) }
    timing.take(4, at: after(2_500))
    timing.note(waits: [0: .zero, 1: .milliseconds(500), 2: .milliseconds(700), 3: .milliseconds(-5)])
    #expect(timing.due(0) == after(1_010))
    #expect(timing.due(1) == after(1_510))
    #expect(timing.due(2) == after(2_210))
    #expect(timing.due(3) == after(3_500), "it was read later than the others waited")
  }

  @Test func `a report cannot excuse a line that comes later than a deadline after all before it`() {
    var timing = timing(3)
    timing.take(3, at: after(10))
    timing.answer(at: after(100))
    timing.note(waits: [0: .seconds(1 << 30), 1: .seconds(1 << 30), 2: .seconds(1 << 30)])
    #expect(timing.due(0) == after(1_010))
    #expect(timing.due(1) == after(1_100))
    #expect(timing.due(2)?.duration(to: after(0)) ?? .zero < .seconds(-1_000), "the line before it is not answered")
  }

  @Test func `a line that waits for its place has a deadline after the last answer before it counts as hung`() {
    var timing = timing(2)
    timing.take(2, at: after(10))
    timing.answer(at: after(1_000))
    #expect(timing.lastDue == after(2_000))
    #expect(!timing.inputEnds(at: after(1_500)))
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
