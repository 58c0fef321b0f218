internal import CLinux
internal import Glibc

/// Writes the lines that the window releases: many at a time, whole lines only, in the window's
/// order, on its own thread.
///
/// When the writer is idle, a line is written immediately; when it is busy, the lines that have
/// gathered are written together. After a write of several lines, the writer waits for 0.1 ms, so
/// that the next write has more lines of a fast stream. A line for a pipe, beside which no other waits,
/// is written by the thread that decides it.
///
/// `@unchecked Sendable`: only the thread that holds entries of the window may use it.
final class LineWriter: @unchecked Sendable {
  private let descriptor: Int32
  private let window: OutputWindow
  private let clock: any DeadlineClock
  private let report: ReportWriter?
  private let brokenPipe: () -> Void
  private let vectors = GatherBuffer()
  /// The time when the consumer had accepted the last write.
  private var idleSince = MonotonicInstant.distantPast

  /// The outcomes of the payloads whose lines were written, the late lines, and the bytes written.
  private(set) var summary = Summary()

  /// - Parameters:
  ///   - descriptor: the descriptor to write; it is neither closed nor changed.
  ///   - report: receives every line that was passed to `write`.
  ///   - brokenPipe: called if the output is no longer read. If it returns, ``run()`` throws EPIPE.
  init(
    descriptor: Int32, window: OutputWindow, clock: any DeadlineClock, report: ReportWriter? = nil,
    brokenPipe: @escaping () -> Void = BrokenPipe.endProcess
  ) {
    self.descriptor = descriptor
    self.window = window
    self.clock = clock
    self.report = report
    self.brokenPipe = brokenPipe
  }

  /// Writes until the window has nothing left.
  ///
  /// - Throws: ``SystemError`` of `writev`. The window then discards all remaining and later lines.
  func run() throws(SystemError) {
    if isOwnPipe { window.setDirectWriter(OutputWindow.DirectWriter(maximum: Int(PIPE_BUF)) { [self] in writeAtOnce($0) }) }
    defer { window.setDirectWriter(nil) }
    var batch: [WindowEntry] = []
    batch.reserveCapacity(WindowState.maximumPlaces)
    while window.take(into: &batch) {
      let handed = clock.now
      do {
        try write(batch)
      } catch {
        window.discard()
        for place in batch { place.onRelease?() }
        if error.number == EPIPE { brokenPipe() }
        throw error
      }
      let taken = clock.now
      settle(batch, handedAt: handed)
      idleSince = taken
      window.release(batch)
      if batch.count > 1 { window.gather() }
      batch.removeAll(keepingCapacity: true)
    }
  }

  /// Whether the output is a pipe that does not take the messages, too: they could fill it between a
  /// look at it and a write.
  private var isOwnPipe: Bool {
    var (output, errors) = (stat(), stat())
    guard unsafe fstat(descriptor, &output) == 0, output.st_mode & S_IFMT == S_IFIFO else { return false }
    return unsafe fstat(STDERR_FILENO, &errors) != 0 || errors.st_ino != output.st_ino || errors.st_dev != output.st_dev
  }

  /// Writes an entry of at most PIPE_BUF bytes to the pipe. A failure is left to the writer's thread.
  private func writeAtOnce(_ entry: WindowEntry) -> Bool {
    let handed = clock.now
    add(entry)
    let count = vectors.count
    guard vectors.writeAtOnce(toPipe: descriptor) else { return false }
    let taken = clock.now
    summary.bytesWritten += count
    settle([entry], handedAt: handed)
    idleSince = taken
    return true
  }

  private func write(_ batch: [WindowEntry]) throws(SystemError) {
    // An entry is not copied: that would retain all that it has.
    for index in batch.indices { add(batch[index]) }
    summary.bytesWritten += vectors.count
    try vectors.write(to: descriptor)
  }

  private func add(_ entry: borrowing WindowEntry) {
    switch entry.output {
    case nil: break
    case .whole(let segment): vectors.add(segment, 0..<segment.count)
    case .spliced(let segment, let member, let place):
      vectors.add(segment, 0..<place)
      vectors.add(member, 0..<member.count)
      vectors.add(segment, place..<segment.count)
    }
  }

  /// Counts the lines of a batch and adds them to the report.
  private func settle(_ batch: [WindowEntry], handedAt handed: MonotonicInstant) {
    var items: [ReportItem] = []
    for index in batch.indices {
      let lateness = lateness(of: batch[index], handedAt: handed)
      count(batch[index].account, isLate: lateness > .zero)
      batch[index].onRelease?()
      guard report != nil else { continue }
      if case .none = batch[index].account { continue }
      items.append(ReportItem(account: batch[index].account, lateness: lateness, waited: batch[index].waited))
    }
    guard let report, !items.isEmpty else { return }
    window.holdForReport(items.reduce(0) { $0 + $1.charge })
    report.add(items)
  }

  /// Returns the time from the deadline to the call of `write`, without the time that the line
  /// waited only because the consumer did not read.
  private func lateness(of place: WindowEntry, handedAt handed: MonotonicInstant) -> Duration {
    let lateness = place.deadline.duration(to: handed)
    return place.ready < idleSince ? lateness - place.ready.duration(to: idleSince) : lateness
  }

  private func count(_ account: WindowEntry.Account, isLate: Bool) {
    switch account {
    case .none: break
    case .passing(_, let lines, _):
      if isLate { summary.lateLines += lines }
    case .payload(let record):
      summary.count(record.decision.outcome, record.decision.reason, status: record.status)
      if isLate { summary.lateLines += 1 }
    }
  }
}

/// Memory ranges that `writev` writes together, in order and completely.
@safe final class GatherBuffer {
  /// The maximum number of ranges per call (IOV_MAX, writev(2)).
  static let maximumVectors = 1024

  private let vectors: UnsafeMutablePointer<iovec>
  private var first = 0
  private var end = 0
  /// The number of bytes that are not written yet.
  private(set) var count = 0

  init() {
    unsafe vectors = .allocate(capacity: Self.maximumVectors)
  }

  deinit {
    unsafe vectors.deallocate()
  }

  /// Adds a range of a segment. The segment's block must stay alive until it is written.
  func add(_ segment: Segment, _ range: Range<Int>) {
    let start = segment.range.lowerBound
    unsafe add(UnsafeRawBufferPointer(segment.block[start + range.lowerBound..<start + range.upperBound]))
  }

  /// Adds bytes, which must stay in place until they are written.
  func add(_ bytes: UnsafeRawBufferPointer) {
    guard unsafe !bytes.isEmpty else { return }
    unsafe vectors[end] = iovec(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
    end += 1
    count += bytes.count
  }

  /// Writes everything that was added. Waits if the descriptor is nonblocking and not ready.
  ///
  /// - Throws: ``SystemError`` of `writev` or `poll`.
  func write(to descriptor: Int32) throws(SystemError) {
    defer { (first, end, count) = (0, 0, 0) }
    while first < end {
      let written = unsafe writev(descriptor, vectors + first, Int32(end - first))
      if written >= 0 {
        drop(written)
      } else if errno == EAGAIN {
        try WholeWrite.waitUntilWritable(descriptor)
      } else if errno != EINTR {
        throw SystemError(call: "writev", number: errno)
      }
    }
  }

  /// Writes everything that was added, at most PIPE_BUF bytes, to a pipe if it takes them without
  /// waiting. Otherwise nothing is written.
  func writeAtOnce(toPipe descriptor: Int32) -> Bool {
    defer { (first, end, count) = (0, 0, 0) }
    let written = unsafe linux_write_without_waiting(descriptor, vectors, end)
    guard written < 0, errno == EOPNOTSUPP else { return written == count }
    var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    guard unsafe poll(&room, 1, 0) == 1, room.revents == Int16(POLLOUT) else { return false }
    // A pipe that has room takes all of at most PIPE_BUF bytes (pipe(7)).
    return unsafe writev(descriptor, vectors, Int32(end)) == count
  }

  /// Removes the bytes that the kernel accepted. The last range may be written only in part.
  private func drop(_ written: Int) {
    var left = written
    count -= written
    while first < end, unsafe left >= vectors[first].iov_len {
      unsafe left -= vectors[first].iov_len
      first += 1
    }
    guard left > 0, let base = unsafe vectors[first].iov_base else { return }
    unsafe vectors[first] = iovec(iov_base: base + left, iov_len: vectors[first].iov_len - left)
  }
}
