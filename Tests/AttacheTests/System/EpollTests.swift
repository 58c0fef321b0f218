import Glibc
import Synchronization
import Testing

@testable import Attache

@Suite(.timeLimit(.minutes(1))) struct EpollTests {
  @Test(arguments: [(ENOMEM, "free memory"), (ENOSPC, "raise fs.epoll.max_user_watches")])
  func `a descriptor that the kernel declines to watch is tried again, and this is reported once`(code: Int32, advice: String) throws {
    let failures = SurvivedFailures()
    let sentences = Mutex<[String]>([])
    failures.report { sentence in
      sentences.withLock { $0.append(sentence) }
      return true
    }
    let event = try EventFD()
    event.ring()
    let watched = event.descriptor
    let tries = Mutex(0)
    let poller = try Epoll(failures: failures) { epoll, operation, descriptor, readiness in
      guard descriptor == watched, tries.withLock({ tries in (tries += 1, tries).1 }) <= 2 else {
        return Epoll.callKernel(epoll, operation, descriptor, readiness)
      }
      errno = code
      return false
    }
    poller.watch(watched, for: .readable, isKnown: false)
    var ready: [Int32] = []
    while ready.isEmpty { poller.wait(until: nil) { descriptor, _ in ready.append(descriptor) } }
    #expect(ready == [watched])
    #expect(tries.withLock { $0 } == 3)
    let told = sentences.withLock { $0 }
    #expect(told.count == 1)
    #expect(told.first?.hasPrefix("epoll_ctl: ") == true && told.first?.contains(advice) == true, "\(told)")
  }

  @Test func `a failure is reported once a minute, and again if nobody could be told`() {
    let failures = SurvivedFailures()
    let told = Mutex<[String]>([])
    let isDeaf = Mutex(true)
    failures.note("unheard")
    failures.report { sentence in
      told.withLock { $0.append(sentence) }
      return !isDeaf.withLock { $0 }
    }
    let now = MonotonicInstant.now
    failures.note("first", at: now)
    isDeaf.withLock { $0 = false }
    for (sentence, second) in [("second", 1), ("third", 60), ("fourth", 61)] {
      failures.note(sentence, at: now.advanced(by: .seconds(second)))
    }
    #expect(told.withLock { $0 } == ["first", "second", "fourth"])
  }
}
