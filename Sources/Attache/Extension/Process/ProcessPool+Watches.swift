internal import Glibc

/// The memory of the processes, and their end.
extension ProcessPool {
  /// How long a process may still exist after it was killed.
  private static let endTimeLimit = Duration.seconds(10)

  /// Ends the processes that use too much memory, as long as one is busy.
  func watchMemory() {
    guard memoryTimer == nil, configuration.memoryLimit != nil || observe != nil else { return }
    memoryTimer = loop.schedule(at: loop.now.advanced(by: Self.memoryInterval)) { [weak self] in
      guard let self else { return }
      memoryTimer = nil
      let limit = configuration.memoryLimit ?? .max
      for process in processes where process.readMemory() ?? 0 > limit {
        say("the service extension used more than \(limit) bytes of memory, and was ended (--extension-memory)")
        end(process, verdict: .extensionMemory)
      }
      if processes.contains(where: { !$0.calls.isEmpty }) { watchMemory() }
      dispatch()
    }
  }

  func collectLeftovers() {
    leftovers.removeAll { process in
      guard let end = process.process.end else {
        // Another process may trace it, and keep its end from its parent.
        let isStuck = process.endInstant.duration(to: loop.now) > Self.endTimeLimit
        if isStuck { say("a process of the service extension cannot be ended: number \(process.process.identifier)") }
        return isStuck
      }
      if !configuration.sharesHome { folder.removeHome(process.number) }
      observe?(.ended(process: process.process.identifier, end, verdict: process.verdict, peakMemory: process.peakMemory), loop.now)
      return true
    }
    guard !leftovers.isEmpty, leftoverTimer == nil else { return }
    leftoverTimer = loop.schedule(at: loop.now.advanced(by: .milliseconds(2))) { [weak self] in
      self?.leftoverTimer = nil
      self?.collectLeftovers()
    }
  }

  func shutdown() {
    isOver = true
    for process in processes { end(process, verdict: .cancelled) }
    while let call = waiting.popFirst() { call.end(.failed(.cancelled)) }
    endSessions()
    let end = loop.now.advanced(by: .seconds(1))
    while !leftovers.isEmpty, loop.now < end {
      collectLeftovers()
      if !leftovers.isEmpty { usleep(500) }
    }
    folder.remove()
    if let memoryTimer { loop.cancel(memoryTimer) }
  }
}
