import ArgumentParser
import Attache
import AttacheArguments
import AttacheQueue
import Logging

extension Enqueue {
  /// Adds the files of a folder to the queue, until there is none, or with `--follow` until a signal.
  ///
  /// - Throws: the exit status, after the problem is logged.
  func run(_ folder: String, _ log: Logger) throws {
    StopSignals.block()
    try DistinctFiles.check(queue.location, outside: folder, log)
    let opened = try queue.open(creates: true, sync: sync, log)
    defer { opened.close() }
    let drops = try orExit(log) { () throws(QueueError) in
      try DropFolder(folder, queue: opened, address: queue.location.absoluteDescription, options, sync: sync) {
        log.notice("\($0.onOneLine)")
      }
    }
    // Before the first look, so that no file is missed.
    let watch = try orExit(log, ExitStatus.software) { try FolderWatch(drops.path) }
    StopSignals.onEach(
      { watch.stop() },
      {
        watch.stop()
        opened.stopWaiting()
      })
    let result = Result { () throws(QueueError) in try takeIn(drops, watch) }
    log.info("\(summary(of: drops.added))")
    let isStopped = try orExit(log) { () throws(QueueError) in try result.get() }
    if isStopped { throw ExitCode(ExitStatus.temporaryFailure) }
  }

  /// - Returns: whether a signal came while files waited.
  private func takeIn(_ drops: DropFolder, _ watch: FolderWatch) throws(QueueError) -> Bool {
    while true {
      while try drops.takeIn() { if watch.isStopped { return true } }
      guard follow, !watch.isStopped else { return false }
      watch.wait()
    }
  }
}
