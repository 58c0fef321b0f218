import Foundation
import Testing

@testable import Attache

/// The threads that extensions may block, counted in a process of the test's own.
@Suite(.timeLimit(.minutes(1))) struct ExtensionThreadTests {
  @Test func `a free thread is used again, and all end with their host`() async {
    await #expect(processExitsWith: .success) {
      var stage: HostStage? = HostStage(.init(receive: { _, answer in answer.offer(.original(nil)) }))
      for _ in 1...20 {
        stage?.run()
        await stage?.waitForDelivery()
        // The delivery comes from the thread, which is free only when the extension has returned.
        #expect(comesTrue { extensionThreads().allSatisfy(isAsleep) })
        // One may still be on its way to its rest when the next request comes.
        #expect(extensionThreads().count <= 2)
      }
      stage = nil
      #expect(comesTrue { extensionThreads().isEmpty })
    }
  }
}

/// What the kernel says of this process's threads for extensions.
private func extensionThreads() -> [String] {
  let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
  return tasks.compactMap { try? String(contentsOfFile: "/proc/self/task/\($0)/stat", encoding: .utf8) }
    .filter { $0.contains("(extension)") }
}

/// Whether the thread waits in the kernel (proc(5)).
private func isAsleep(_ status: String) -> Bool {
  status.contains(") S ")
}

/// The kernel tells nobody when a thread has gone: looks again and again, for ten seconds at most.
private func comesTrue(_ condition: () -> Bool) -> Bool {
  let end = MonotonicInstant.now.advanced(by: .seconds(10))
  while !condition() {
    if MonotonicInstant.now > end { return false }
    sched_yield()
  }
  return true
}
