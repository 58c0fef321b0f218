internal import Glibc
internal import Synchronization

/// Writes the report on its own thread, so that a slow disk, or a pipe that is not read, never
/// delays a line.
///
/// Records are written in decision order, as soon as the lines before them were passed to `write`.
/// Nothing stays in a buffer when the input pauses.
final class ReportWriter: Sendable {
  private struct Desk {
    var items: [ReportItem] = []
    var isFinished = false
    var isAsleep = false
  }

  /// The maximum number of bytes to buffer before a write.
  private static let bufferSize = 64 << 10

  private let descriptor: Int32
  private let desk = Mutex(Desk())
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
    work = try machine.makeWakeSignal()
  }

  /// Adds items that were passed to `write`; never waits.
  func add(_ items: [ReportItem]) {
    wake { $0.items += items }
  }

  /// Records that nothing more will be added; ``run()`` then ends.
  func finish() {
    wake { $0.isFinished = true }
  }

  /// Writes until the report is finished. The report's thread runs it.
  func run() {
    var order = ReportOrder()
    var text = ReportText(descriptor: descriptor, bufferSize: Self.bufferSize, showing: detail, failed: failed)
    var isFinished = false
    while !isFinished {
      let items = next(isFinished: &isFinished)
      for item in items { order.add(item) }
      while let item = order.popNext() { text.write(item) }
      if isFinished { order.popRest().forEach { text.write($0) } }
      text.flush()
      written(items.reduce(0) { $0 + $1.charge })
    }
    close(descriptor)
  }

  /// Waits for items, or for the end.
  private func next(isFinished: inout Bool) -> [ReportItem] {
    while true {
      let (items, finished) = desk.withLock { desk in
        desk.isAsleep = desk.items.isEmpty && !desk.isFinished
        defer { desk.items = [] }
        return (desk.items, desk.isFinished)
      }
      isFinished = finished
      if finished || !items.isEmpty { return items }
      work.wait(until: nil)
    }
  }

  private func wake(_ change: @Sendable (inout Desk) -> Void) {
    let isAsleep = desk.withLock { desk in
      change(&desk)
      defer { desk.isAsleep = false }
      return desk.isAsleep
    }
    if isAsleep { work.ring() }
  }
}
