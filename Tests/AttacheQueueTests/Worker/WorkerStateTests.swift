@testable import Attache
@testable import AttacheQueue
import Testing

@Suite struct WorkerStateTests {
  private let start = MonotonicInstant(nanoseconds: 1_000_000_000_000)

  private func claim(_ ids: ClosedRange<Int64>?, suspects: Bool = false, next: Duration?) -> Claim {
    let leases = (ids.map(Array.init) ?? []).map { id in
      Lease(
        token: LeaseToken(id: id, fence: id), line: Array("0123456789".utf8), attempt: 1, expiresAt: nil, deaths: 0, deathsAlone: 0)
    }
    return Claim(leases: leases, hasSuspects: suspects, next: next)
  }

  private func settle(_ claim: Claim, in state: inout WorkerState) {
    let settlements = claim.leases.map { Settlement(lease: $0, decision: Decision(.passthrough, nil), deadline: start) }
    for settlement in settlements { state.settle(settlement) }
    state.release(state.takeSettled(1_000), at: start)
  }

  @Test func `a worker asks for as many as it has places and memory for`() {
    var state = WorkerState(jobs: 10, isOnce: false)
    #expect(state.step(at: start) == .claim(limit: 10, bytes: WorkerState.maximumBytes, isAlone: false))
    state.note(claim(1...4, next: .zero), isAlone: false, at: start, leased: .zero)
    #expect(state.step(at: start) == .claim(limit: 6, bytes: WorkerState.maximumBytes - 40, isAlone: false))
  }

  @Test func `a worker asks for no more than its converters finish in time`() {
    var state = WorkerState(jobs: 256, isOnce: false)
    #expect(state.step(at: start, limit: 20) == .claim(limit: 20, bytes: WorkerState.maximumBytes, isAlone: false))
    state.note(claim(1...15, next: .zero), isAlone: false, at: start, leased: .zero)
    #expect(state.step(at: start, limit: 20) == .claim(limit: 5, bytes: WorkerState.maximumBytes - 150, isAlone: false))
    #expect(state.step(at: start, limit: 15) == .wait(until: .distantFuture))
    #expect(state.step(at: start, limit: 1) == .wait(until: .distantFuture))
  }

  @Test func `few free places wait a moment for more`() {
    var state = WorkerState(jobs: 8, isOnce: false)
    state.note(claim(1...7, next: .zero), isAlone: false, at: start, leased: .zero)
    let gathered = start.advanced(by: WorkerState.gathering)
    #expect(state.step(at: start) == .wait(until: gathered))
    #expect(state.step(at: gathered) == .claim(limit: 1, bytes: WorkerState.maximumBytes - 70, isAlone: false))
  }

  @Test func `an empty queue is asked again after a quarter of a second, or when it is said to have something`() {
    var state = WorkerState(jobs: 8, isOnce: false)
    state.note(claim(nil, next: nil), isAlone: false, at: start, leased: .zero)
    #expect(state.step(at: start) == .wait(until: start.advanced(by: HeldLeases.poll)))
    state.lookAgain()
    #expect(state.step(at: start) == .claim(limit: 8, bytes: WorkerState.maximumBytes, isAlone: false))
  }

  @Test func `what is due sooner is asked for sooner`() {
    var state = WorkerState(jobs: 8, isOnce: false)
    state.note(claim(nil, next: .milliseconds(17)), isAlone: false, at: start, leased: .zero)
    #expect(state.step(at: start) == .wait(until: start.advanced(by: .milliseconds(17))))
  }

  @Test func `once ends when every payload has a result, and not while any is held here or elsewhere`() {
    var state = WorkerState(jobs: 8, isOnce: true)
    let held = claim(1...2, next: .seconds(60))
    state.note(held, isAlone: false, at: start, leased: .zero)
    #expect(state.step(at: start) != .end)
    settle(held, in: &state)
    state.note(claim(nil, next: .seconds(60)), isAlone: false, at: start, leased: .zero)
    #expect(state.step(at: start) != .end)
    state.note(claim(nil, next: nil), isAlone: false, at: start, leased: .zero)
    #expect(state.step(at: start) == .end)
  }

  @Test func `what is enqueued while a claim is under way is not overlooked`() {
    var state = WorkerState(jobs: 8, isOnce: false)
    state.beginClaim()
    state.endWhenDone()
    // The claim looked before the last payload was added.
    state.note(claim(nil, next: nil), isAlone: false, at: start, leased: .zero)
    #expect(state.step(at: start) == .claim(limit: 8, bytes: WorkerState.maximumBytes, isAlone: false))
    state.beginClaim()
    state.note(claim(nil, next: nil), isAlone: false, at: start, leased: .zero)
    #expect(state.step(at: start) == .end)
  }

  @Test func `a suspect is asked for when nothing else is left or held, and nothing beside it`() {
    var state = WorkerState(jobs: 8, isOnce: true)
    let others = claim(1...2, suspects: true, next: .zero)
    state.note(others, isAlone: false, at: start, leased: .zero)
    #expect(state.step(at: start) == .claim(limit: 6, bytes: WorkerState.maximumBytes - 20, isAlone: false))
    state.note(claim(nil, suspects: true, next: .zero), isAlone: false, at: start, leased: .zero)
    #expect(state.step(at: start) == .wait(until: .distantFuture))
    settle(others, in: &state)
    #expect(state.step(at: start) == .claim(limit: 1, bytes: .max, isAlone: true))
    let suspect = claim(3...3, next: .zero)
    state.note(suspect, isAlone: true, at: start, leased: .zero)
    #expect(state.step(at: start) == .wait(until: .distantFuture))
    settle(suspect, in: &state)
    #expect(state.step(at: start) == .claim(limit: 8, bytes: WorkerState.maximumBytes, isAlone: false))
  }

  @Test func `a suspect that another worker has taken meanwhile is not asked for without pause`() {
    var state = WorkerState(jobs: 8, isOnce: false)
    state.note(claim(nil, suspects: true, next: .zero), isAlone: false, at: start, leased: .zero)
    #expect(state.step(at: start) == .claim(limit: 1, bytes: .max, isAlone: true))
    state.note(claim(nil, suspects: true, next: .zero), isAlone: true, at: start, leased: .zero)
    #expect(state.step(at: start) == .wait(until: start.advanced(by: HeldLeases.leastPause)))
  }

  @Test func `others make room for a suspect that has waited for long`() {
    var state = WorkerState(jobs: 8, isOnce: false)
    let first = claim(1...2, suspects: true, next: .zero)
    state.note(first, isAlone: false, at: start, leased: .zero)
    let late = start.advanced(by: HeldLeases.suspectTimeLimit + .seconds(1))
    let second = claim(3...4, suspects: true, next: .zero)
    state.note(second, isAlone: false, at: late, leased: .zero)
    #expect(state.step(at: late) == .wait(until: .distantFuture))
    settle(first, in: &state)
    settle(second, in: &state)
    #expect(state.step(at: late) == .claim(limit: 1, bytes: .max, isAlone: true))
  }

  @Test func `a worker that is stopped or has failed claims nothing, and ends when it holds nothing`() {
    for end: (inout WorkerState) -> Void in [{ $0.stop() }, { $0.cancel() }, { $0.fail(.failed("no")) }] {
      var state = WorkerState(jobs: 8, isOnce: false)
      let held = claim(1...1, next: .zero)
      state.note(held, isAlone: false, at: start, leased: .zero)
      end(&state)
      #expect(state.step(at: start) == .wait(until: .distantFuture))
      settle(held, in: &state)
      #expect(state.step(at: start) == .end)
    }
  }

  @Test func `leases are renewed together when the oldest is old`() {
    var state = WorkerState(jobs: 8, isOnce: false)
    state.note(claim(1...1, next: .zero), isAlone: false, at: start, leased: .seconds(100))
    state.note(claim(2...2, next: .zero), isAlone: false, at: start, leased: .seconds(110))
    #expect(state.leases.renewals(before: .seconds(100)) == [])
    let due = state.leases.renewals(before: .seconds(101))
    #expect(Set(due.map(\.id)) == [1, 2])
    #expect(state.leases.renewals(before: .seconds(101)).count == 2, "renewals stay due until the queue has made them")
    state.leases.renewed(due, at: .seconds(110))
    #expect(state.leases.renewals(before: .seconds(110)) == [])
    #expect(state.leases.renewals(before: .seconds(111)).count == 2)
  }

  @Test func `after a failure of the machine nothing is claimed for a while, and then one payload, and more with each that is settled`() {
    let fault = MachineFault(.storeFull, "no room")
    var state = WorkerState(jobs: 4, isOnce: true)
    let first = claim(1...4, next: .zero)
    state.note(first, isAlone: false, at: start, leased: .zero)
    for lease in first.leases { state.settle(Settlement(lease: lease, decision: Decision(.passthrough, nil), deadline: start)) }
    state.release(state.takeSettled(1), fault: fault, at: start)
    let end = start.advanced(by: WorkerConfiguration.pause)
    #expect(state.step(at: start) == .wait(until: end))
    #expect(state.fault == fault)
    // Payloads that were already in flight say nothing about the machine's present state.
    state.release(state.takeSettled(3), at: start)
    #expect(state.fault == fault)
    #expect(state.step(at: end) == .probe)
    state.endPause()
    #expect(state.step(at: end) == .claim(limit: 1, bytes: WorkerState.maximumBytes, isAlone: false))
    #expect(state.fault == fault)
    let second = claim(5...5, next: .zero)
    state.note(second, isAlone: false, at: end, leased: .zero)
    settle(second, in: &state)
    #expect(state.fault == nil)
    let later = end.advanced(by: .seconds(1))
    #expect(state.step(at: later) == .claim(limit: 2, bytes: WorkerState.maximumBytes, isAlone: false))
    let third = claim(6...7, next: .zero)
    state.note(third, isAlone: false, at: later, leased: .zero)
    settle(third, in: &state)
    #expect(state.step(at: later) == .claim(limit: 4, bytes: WorkerState.maximumBytes, isAlone: false))
  }

  @Test func `a pause ends when nothing is left to claim, such as when another worker took it`() {
    var state = WorkerState(jobs: 4, isOnce: false)
    state.pause(MachineFault(.storeFull, "no room"), at: start)
    // The answer to an earlier claim says nothing about the machine's present state.
    state.note(claim(nil, next: nil), isAlone: false, at: start, leased: .zero)
    #expect(state.fault != nil)
    state.endPause()
    let end = start.advanced(by: WorkerConfiguration.pause)
    state.note(claim(nil, next: nil), isAlone: false, at: end, leased: .zero)
    #expect(state.fault == nil)
    let later = end.advanced(by: .seconds(1))
    #expect(state.step(at: later) == .claim(limit: 4, bytes: WorkerState.maximumBytes, isAlone: false))
  }

  @Test func `what is settled leaves in groups, in order`() {
    var state = WorkerState(jobs: 8, isOnce: false)
    let held = claim(1...3, next: .zero)
    state.note(held, isAlone: false, at: start, leased: .zero)
    for lease in held.leases { state.settle(Settlement(lease: lease, decision: Decision(.passthrough, nil), deadline: start)) }
    #expect(state.takeSettled(2).map(\.lease.token.id) == [1, 2])
    #expect(state.takeSettled(2).map(\.lease.token.id) == [3])
    #expect(state.takeSettled(2).isEmpty)
  }
}
