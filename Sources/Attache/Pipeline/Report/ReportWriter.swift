internal import Glibc

/// Writes the report on its own thread, so that a slow disk, or a pipe that is not read, never
/// delays a line.
///
/// Records are written in the order of the output, as soon as their lines were passed to `write`: in
/// the order of the input, unless the run is unordered. Nothing stays in a buffer when the input
/// pauses.
final class ReportWriter: Sendable {
  private struct Pending {
    var items: [ReportItem] = []
    var isFinished = false
  }

  /// The maximum number of bytes to buffer before a write.
  private static let bufferSize = 64 << 10

  private let descriptor: Int32
  private let pending: Mailbox<Pending>
  private let detail: URLDetail
  private let work: any WakeSignal
  private let written: @Sendable (_ bytes: Int) -> Void
  private let failed: @Sendable (SystemError) -> Void

  /// - Parameters:
  ///   - descriptor: the descriptor to write; ``run()`` closes it at the end.
  ///   - detail: how much of a URL to show.
  ///   - written: called on the report's thread with the charge of items that were written or
  ///     discarded (``ReportItem/charge``).
  ///   - failed: called once if the report cannot be written; later records are discarded.
  /// - Throws: ``SystemError`` if no file descriptor is available.
  init(
    descriptor: Int32, machine: any Machine, showing detail: URLDetail, written: @escaping @Sendable (_ bytes: Int) -> Void,
    failed: @escaping @Sendable (SystemError) -> Void
  ) throws(SystemError) {
    self.descriptor = descriptor
    self.detail = detail
    self.written = written
    self.failed = failed
    let work = try machine.makeWakeSignal()
    self.work = work
    pending = Mailbox(Pending()) { work.ring() }
  }

  /// Adds items that were passed to `write`; never waits.
  func add(_ items: [ReportItem]) {
    pending.change { $0.items += items }
  }

  /// Records that nothing more will be added; ``run()`` then ends.
  func finish() {
    pending.change { $0.isFinished = true }
  }

  /// Writes until the report is finished. The report's thread runs it.
  func run() {
    var text = ReportText(descriptor: descriptor, bufferSize: Self.bufferSize, showing: detail, failed: failed)
    var isFinished = false
    while !isFinished {
      let pending = takePending()
      isFinished = pending.isFinished
      for item in pending.items { text.write(item) }
      text.flush()
      written(pending.items.reduce(0) { $0 + $1.charge })
    }
    close(descriptor)
  }

  /// Waits for items, or for the end.
  private func takePending() -> Pending {
    pending.take(waitingFor: work) { pending in
      guard pending.isFinished || !pending.items.isEmpty else { return nil }
      defer { pending.items = [] }
      return pending
    }
  }
}
