internal import Glibc

/// One converter of a loop: its process, and the picture that it converts. On the loop only.
final class ConverterLane {
  private let loop: EventLoop
  private let store: AttachmentStore
  private let limits: MediaLimits
  private let conversion: Conversion
  private let startProcess: HelperProcess.Start
  /// Called with the result of the job, and the time that it took.
  private let ended: (ConverterJob, Result<StoredFile, FetchFailure>, Duration) -> Void
  private(set) var job: ConverterJob?
  /// When the job began, and the time that it may take.
  private(set) var begun = MonotonicInstant.distantPast
  private var limit = Duration.zero
  private var timer: TimerEntry?
  /// The result, while its bytes arrive.
  private var result: ConvertedFile?
  private var process: ConverterProcess?
  private var buffer = [UInt8](repeating: 0, count: ConverterProcess.partBytes)

  /// How much longer this side waits than the process itself, so that the process can end by itself.
  static let margin = Duration.milliseconds(50)
  /// The maximum number of parts of a result that are read in a turn.
  private static let portion = 8

  init(
    _ conversion: Conversion, _ limits: MediaLimits, store: AttachmentStore, on loop: EventLoop,
    startProcess: @escaping HelperProcess.Start,
    ended: @escaping (ConverterJob, Result<StoredFile, FetchFailure>, Duration) -> Void
  ) {
    (self.conversion, self.limits, self.store, self.loop) = (conversion, limits, store, loop)
    (self.startProcess, self.ended) = (startProcess, ended)
  }

  /// Converts a picture. Only one may be converted at a time.
  ///
  /// - Parameter limit: the time that it may take, above 0.
  func begin(_ job: ConverterJob, _ picture: SourcePicture, within limit: Duration) {
    (self.job, self.limit, begun) = (job, limit, loop.now)
    timer = loop.schedule(at: begun.advanced(by: limit + Self.margin)) { [weak self] in
      self?.timer = nil
      self?.giveUp()
    }
    do throws(StoreError) {
      let input = try picture.file.openToRead()
      defer { close(input) }
      send(picture, input)
    } catch {
      finish(.failure(FetchFailure(error)))
    }
  }

  /// Ends the process, and drops the job.
  func shutdown() {
    if let timer { loop.cancel(timer) }
    (job, timer, result) = (nil, nil, nil)
    releaseProcess()
  }

  /// Sends the job to the process. A process that has ended since the last job is replaced once.
  private func send(_ picture: SourcePicture, _ input: Int32) {
    for _ in 0..<2 {
      do throws(SystemError) {
        if process == nil { process = try ConverterProcess(startProcess) }
        if let process, process.send(picture, input, conversion, limits, within: limit) { return watch(process) }
      } catch {
        return finish(.failure(FetchFailure(noConverter: error)))
      }
      releaseProcess()
    }
    finish(.failure(FetchFailure(reason: .convertFailed, message: "the converter ends before it takes a picture; see the kernel's log")))
  }

  private func watch(_ process: ConverterProcess) {
    loop.watch(process.socket, for: .readable) { [weak self] _, _ in self?.receive() }
  }

  /// Takes what the process has sent.
  private func receive() {
    guard let process, let job else { return }
    // The process may stop, which closes its socket.
    loop.unwatch(process.socket)
    if let result = take(job, process) {
      finish(result)
    } else {
      watch(process)
    }
  }

  /// - Returns: nil while bytes are missing.
  private func take(_ job: ConverterJob, _ process: ConverterProcess) -> Result<StoredFile, FetchFailure>? {
    if result == nil {
      switch process.receive(conversion, limits) {
      case nil: return nil
      case .failed(let failure): return .failure(failure)
      case .value(let (type, bytes)):
        result = ConvertedFile(store: store, limits: limits, of: job, as: type, bytes: bytes)
      }
    }
    guard let file = result else { return nil }
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

  private func giveUp() {
    if let process { loop.unwatch(process.socket) }
    // The payload's time is nearly over. Do not wait for a child that frees its memory.
    process?.stop(waiting: 0)
    finish(.failure(FetchFailure(reason: .convertDeadline)))
  }

  /// Ends the job.
  private func finish(_ result: Result<StoredFile, FetchFailure>) {
    if process?.isOver == true { releaseProcess() }
    if let timer { loop.cancel(timer) }
    (timer, self.result) = (nil, nil)
    guard let job = job.take() else { return }
    ended(job, result, begun.duration(to: loop.now))
  }

  private func releaseProcess() {
    if let process, !process.isOver {
      loop.unwatch(process.socket)
      process.stop()
    }
    process = nil
  }
}

extension FetchFailure {
  /// Creates the failure of this machine to start a converter.
  fileprivate init(noConverter error: SystemError) {
    self.init(reason: .convertFailed, message: "the converter's process cannot start: \(error)")
    isOfMachine = true
  }
}
