import Dispatch
import Synchronization
import Testing

@testable import Attache

@Suite(.timeLimit(.minutes(1))) struct ExplainerTests {
  @Test func `an explanation that nobody takes holds up nobody`() throws {
    let isTaken = DispatchSemaphore(value: 0)
    let told = Mutex<[Reason]>([])
    let explainer = try Explainer(machine: SystemMachine(), showing: .short) { explanation in
      isTaken.wait()
      told.withLock { $0.append(explanation.reason) }
    }
    explainer.add(.deadline, of: 1, [])
    explainer.add(.httpStatus, of: 2, [])
    explainer.add(.deadline, of: 3, [])
    isTaken.signal()
    isTaken.signal()
    explainer.finish()
    #expect(told.withLock { $0 } == [.deadline, .httpStatus])
  }
}
