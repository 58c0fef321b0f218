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

  /// Collects a killed process when it has ended.
  func awaitEnd(of process: ExtensionProcess) {
    leftovers.append(process)
    loop.watch(process.child.endDescriptor, for: .readable) { [weak self, weak process] _, _ in
      if let self, let process { collect(process) }
    }
    _ = loop.schedule(at: loop.now.advanced(by: Self.endTimeLimit)) { [weak self, weak process] in
      guard let self, let process else { return }
      collect(process)
      // Another process may trace it, and keep its end from its parent.
      if forget(process) { say("a process of the service extension cannot be ended: number \(process.process.identifier)") }
    }
  }

  private func collect(_ process: ExtensionProcess) {
    loop.unwatch(process.child.endDescriptor)
    guard let end = process.child.end else {
      // A process that traces it gets its end first.
      guard leftovers.contains(where: { $0 === process }) else { return }
      _ = loop.schedule(at: loop.now.advanced(by: .milliseconds(50))) { [weak self, weak process] in
        if let self, let process { collect(process) }
      }
      return
    }
    guard forget(process) else { return }
    if !configuration.sharesHome { folder.removeHome(process.number) }
    observe?(.ended(process: process.process.identifier, end, verdict: process.verdict, peakMemory: process.peakMemory), loop.now)
  }

  /// - Returns: whether the process was among the leftovers.
  private func forget(_ process: ExtensionProcess) -> Bool {
    guard let index = leftovers.firstIndex(where: { $0 === process }) else { return false }
    leftovers.remove(at: index)
    return true
  }

  func shutdown() {
    isOver = true
    for process in processes { end(process, verdict: .cancelled) }
    while let call = waiting.popFirst() { call.end(.failed(.cancelled)) }
    endSessions()
    let limit = loop.now.advanced(by: .seconds(1))
    for process in leftovers {
      process.child.wait(until: limit)
      collect(process)
    }
    folder.remove()
    if let memoryTimer { loop.cancel(memoryTimer) }
  }
}
