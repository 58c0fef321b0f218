import Glibc
import Synchronization
import Testing

@testable import Attache

@Suite struct ThreadTests {
  private func niceValue(_ urgency: ThreadUrgency, _ change: Int32 = 0) throws -> Int32 {
    let value = Mutex<Int32>(0)
    try Thread.start("thread", urgency) {
      let caller = Int32(PRIO_PROCESS.rawValue)
      if change != 0 { _ = setpriority(caller, 0, getpriority(caller, 0) + change) }
      value.withLock { $0 = getpriority(caller, 0) }
    }.join()
    return value.withLock { $0 }
  }

  @Test func `a timely thread goes before the others where that is allowed`() throws {
    let usual = try niceValue(.usual)
    let allowed = try niceValue(.usual, -10)
    #expect(try niceValue(.timely) == allowed)
    #expect(try niceValue(.usual) == usual)
  }
}
