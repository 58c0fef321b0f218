import AttacheTesting
import Foundation
import Testing

@testable import Attache

/// The threads that extensions may block, counted in a separate process.
@Suite(.timeLimit(.minutes(1))) struct ExtensionThreadTests {
  @Test func `a free thread is used again, and all end with their host`() async {
    await #expect(processExitsWith: .success) {
      var stage: HostStage? = HostStage(.init(receive: { _, answer in answer.offer(.original(nil)) }))
      for _ in 1...20 {
        stage?.run()
        await stage?.waitForDelivery()
        // The thread delivers, and is free only when the extension has returned.
        #expect(comesTrue { extensionThreads().allSatisfy(isAsleep) })
        // A thread may not be waiting yet when the next request comes.
        #expect(extensionThreads().count <= 2)
      }
      stage = nil
      #expect(comesTrue { extensionThreads().isEmpty })
    }
  }

  @Test func `an extension is told that its request is decided, although its host is gone`() async {
    for _ in 1...50 {
      let (cancellations, continuation) = AsyncStream<Void>.makeStream()
      var stage: HostStage? = HostStage(.init(cancel: { continuation.yield() }))
      stage?.run()
      stage?.clock.advance(by: HostStage.budget)
      await stage?.waitForDelivery()
      stage = nil
      for await _ in cancellations { break }
    }
  }
}

/// The state of this process's extension threads, from the kernel.
private func extensionThreads() -> [String] {
  let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
  return tasks.compactMap { try? String(contentsOfFile: "/proc/self/task/\($0)/stat", encoding: .utf8) }
    .filter { $0.contains("(extension)") }
}

/// Whether the thread waits in the kernel (proc(5)).
private func isAsleep(_ status: String) -> Bool {
  status.contains(") S ")
}

/// The kernel gives no event for the end of a thread, so this polls, for ten seconds at most.
private func comesTrue(_ condition: () -> Bool) -> Bool {
  let end = MonotonicInstant.now.advanced(by: .seconds(10))
  while !condition() {
    if MonotonicInstant.now > end { return false }
    sched_yield()
  }
  return true
}
