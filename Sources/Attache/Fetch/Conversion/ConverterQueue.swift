internal import Glibc

/// The queue of pictures from a loop's fetches to the loop's converter. It converts one at a time, in
/// order, and stores the results. On the loop only.
///
/// It is as long as there are fetches whose bytes are complete, which `--jobs` bounds.
final class ConverterQueue {
  private final class Job {
    let picture: SourcePicture
    /// When the conversion must have ended.
    let end: MonotonicInstant
    let isWanted: () -> Bool
    /// nil once the job has its result.
    var answer: ((Result<StoredFile, FetchFailure>) -> Void)?
    var timer: TimerEntry?
    /// The result, while its bytes arrive.
    var result: ConvertedFile?

    init(
      _ picture: SourcePicture, until end: MonotonicInstant, isWanted: @escaping () -> Bool,
      answer: @escaping (Result<StoredFile, FetchFailure>) -> Void
    ) {
      (self.picture, self.end, self.isWanted, self.answer) = (picture, end, isWanted, answer)
    }
  }

  private let loop: EventLoop
  private let store: AttachmentStore
  private let limits: MediaLimits
  private let conversion: Conversion
  private let play: ConverterPlay
  private var waiting = Ring<Job>()
  private var current: Job?
  private var process: ConverterProcess?
  /// Stopped processes that have not ended yet, and when each must have.
  private var leftovers: [(child: pid_t, end: MonotonicInstant)] = []
  private var leftoverTimer: TimerEntry?
  private var buffer = [UInt8](repeating: 0, count: ConverterProcess.partBytes)

  /// How much longer this side waits than the process itself, so that the process can end by itself.
  private static let margin = Duration.milliseconds(50)
  /// How long a stopped process may still exist, and how often to look for it.
  private static let (leftoverPatience, leftoverPause) = (Duration.seconds(10), Duration.milliseconds(100))
  /// The maximum number of parts of a result that are read in a turn.
  private static let portion = 8

  init(
    _ conversion: Conversion, _ limits: MediaLimits, store: AttachmentStore, on loop: EventLoop, play: ConverterPlay = .honest
  ) {
    (self.conversion, self.limits, self.store, self.loop, self.play) = (conversion, limits, store, loop, play)
  }

  /// Converts a picture.
  ///
  /// - Parameters:
  ///   - end: when the conversion must have ended.
  ///   - isWanted: called when the picture's turn has come. If it returns false, the picture is
  ///     dropped.
  ///   - answer: called with the stored file, pinned once, or with ``Reason/convertFailed``,
  ///     ``Reason/convertDeadline`` or another reason; in a later step.
  func convert(
    _ picture: SourcePicture, until end: MonotonicInstant, isWanted: @escaping () -> Bool,
    answer: @escaping (Result<StoredFile, FetchFailure>) -> Void
  ) {
    let job = Job(picture, until: end, isWanted: isWanted, answer: answer)
    job.timer = loop.schedule(at: end.advanced(by: Self.margin)) { [weak self, weak job] in
      guard let self, let job else { return }
      job.timer = nil
      giveUp(job)
    }
    waiting.append(job)
  }

  /// Called at the end of a turn: begins the next conversion. ``convert(_:until:isWanted:answer:)``
  /// does not begin it, because it may be called on the transport's stack.
  func turnEnded() {
    while current == nil, let job = waiting.popFirst() {
      guard job.answer != nil else { continue }
      guard job.isWanted() else {
        drop(job)
        continue
      }
      current = job
      begin(job)
    }
  }

  /// Ends the process, and drops all pictures.
  func shutdown() {
    if let current { drop(current) }
    while let job = waiting.popFirst() { drop(job) }
    current = nil
    replaceProcess()
    if let leftoverTimer { loop.cancel(leftoverTimer) }
    leftoverTimer = nil
    // None may remain as a zombie of a program that goes on.
    leftovers.removeAll { ConverterProcess.isGone($0.child, within: 100) }
  }

  private func begin(_ job: Job) {
    do throws(StoreError) {
      let input = try job.picture.file.openToRead()
      defer { close(input) }
      try send(job, input)
    } catch {
      finish(.failure(FetchFailure(error)))
    }
  }

  /// Sends the job to the process. A process that has ended since the last job is replaced once.
  private func send(_ job: Job, _ input: Int32) throws(StoreError) {
    for _ in 0..<2 {
      let time = loop.now.duration(to: job.end)
      guard time > .zero else { return finish(.failure(FetchFailure(reason: .convertDeadline))) }
      do throws(SystemError) {
        if process == nil { process = try ConverterProcess(play: play) }
        if let process, process.send(job.picture, input, conversion, limits, within: time) { return watch(process) }
      } catch {
        return finish(.failure(FetchFailure(noConverter: error)))
      }
      replaceProcess()
    }
    finish(.failure(FetchFailure(reason: .convertFailed, message: "the converter ends before it takes a picture; see the kernel's log")))
  }

  private func watch(_ process: ConverterProcess) {
    loop.watch(process.socket, for: .readable) { [weak self] _, _ in self?.receive() }
  }

  /// Takes what the process has sent.
  private func receive() {
    guard let process, let job = current else { return }
    // The process may stop, which closes its socket.
    loop.unwatch(process.socket)
    if let result = take(job, process) {
      finish(result)
    } else {
      watch(process)
    }
  }

  /// - Returns: nil while bytes are missing.
  private func take(_ job: Job, _ process: ConverterProcess) -> Result<StoredFile, FetchFailure>? {
    if job.result == nil {
      switch process.receive(conversion, limits) {
      case nil: return nil
      case .failed(let failure): return .failure(failure)
      case .value(let (type, bytes)):
        job.result = ConvertedFile(store: store, limits: limits, from: job.picture.format, as: type, bytes: bytes)
      }
    }
    guard let file = job.result else { return nil }
    for _ in 0..<Self.portion {
      switch unsafe buffer.withUnsafeMutableBytes({ unsafe process.receivePart($0) }) {
      case nil: return nil
      case .failed(let failure): return .failure(failure)
      case .value(let count):
        do throws(FetchFailure) {
          if let stored = try file.take(buffer[..<count]) { return .success(stored) }
        } catch {
          // More of the result may follow.
          process.stop()
          return .failure(error)
        }
      }
    }
    return nil
  }

  private func giveUp(_ job: Job) {
    guard job === current else { return end(job, .failure(FetchFailure(reason: .convertDeadline))) }
    if let process { loop.unwatch(process.socket) }
    // The payload's time is nearly over. Do not wait for a child that frees its memory.
    process?.stop(waiting: 0)
    finish(.failure(FetchFailure(reason: .convertDeadline)))
  }

  /// Ends the current job. The next one begins at the end of the turn.
  private func finish(_ result: Result<StoredFile, FetchFailure>) {
    if process?.isOver == true { replaceProcess() }
    guard let job = current else { return }
    current = nil
    end(job, result)
  }

  private func end(_ job: Job, _ result: Result<StoredFile, FetchFailure>) {
    let answer = job.answer
    drop(job)
    // This may be called at the end of a turn. The answer belongs to the next one.
    loop.later { answer?(result) }
  }

  private func drop(_ job: Job) {
    if let timer = job.timer { loop.cancel(timer) }
    (job.timer, job.answer, job.result) = (nil, nil, nil)
  }

  /// A confined process may not send signals. If injected code has disabled the timers of a
  /// converter, ending this process ends it.
  private func replaceProcess() {
    guard let process else { return }
    if !process.isOver {
      loop.unwatch(process.socket)
      process.stop()
    }
    if let leftover = process.leftover { leftovers.append((leftover, loop.now.advanced(by: Self.leftoverPatience))) }
    self.process = nil
    if leftoverTimer == nil { lookForLeftovers() }
  }

  private func lookForLeftovers() {
    leftovers.removeAll { ConverterProcess.isGone($0.child) }
    guard let first = leftovers.first else { return }
    if loop.now >= first.end { abort() }
    leftoverTimer = loop.schedule(at: loop.now.advanced(by: Self.leftoverPause)) { [weak self] in
      guard let self else { return }
      leftoverTimer = nil
      lookForLeftovers()
    }
  }
}

extension FetchFailure {
  /// Creates the failure of this machine to start a converter.
  fileprivate init(noConverter error: SystemError) {
    self.init(
      reason: .convertFailed, message: "the converter's process cannot start (\(error)); raise the limit on processes or free memory")
    isOfMachine = true
  }
}
