internal import Glibc
internal import Synchronization

/// The host's side of the connection to the uploader. It remembers which files are published, joins
/// uploads of the same file, and replaces an uploader that has ended.
///
/// `@unchecked Sendable`: `state` is locked, everything else belongs to the loop.
package final class UploadClient: @unchecked Sendable {
  private typealias Completion = @Sendable (UploadResult) -> Void

  /// An upload that has no result yet.
  private struct Job {
    /// nil for the probe.
    var file: StoredFile?
    var deadline: MonotonicInstant
    var completions: [Completion]
    /// How many uploaders ended while they worked on it.
    var ends = 0
  }

  private struct State {
    /// Until when a published object is young.
    var known: [StoreName: MonotonicInstant] = [:]
    var numbers: [StoreName: UInt64] = [:]
    var jobs: [UInt64: Job] = [:]
    var lastNumber: UInt64 = 0
    var isOver = false
  }

  /// The number of published files that are remembered.
  private static let capacity = 1 << 16
  /// How long the probe may take.
  private static let probeTimeLimit = Duration.seconds(10)

  private let store: AttachmentStore
  private let loop: EventLoop
  private let start: @Sendable (_ connection: Int32) -> Bool
  private let notify: @Sendable (String) -> Void
  private let state = Mutex(State())
  /// The connection; -1 without an uploader.
  private var connection: Int32 = -1
  private var unsent = Ring<UploadRequest>()
  private var pause = GrowingPause(first: .milliseconds(10), longest: .seconds(1))
  private var isStarting = false
  /// The number of starts in a row that failed.
  private var failedStarts = 0
  /// Whether the user knows that an uploader has ended.
  private var didNotify = false

  /// Starts an uploader, and checks that it may write to the bucket.
  ///
  /// - Parameters:
  ///   - store: has the files.
  ///   - start: starts the uploader with its end of a connection, which stays the caller's; false
  ///     when this is impossible.
  ///   - notify: receives messages for the user, on any thread.
  /// - Throws: ``StartError``, which tells the user why nothing can be uploaded.
  package init(
    _ store: AttachmentStore, start: @escaping @Sendable (_ connection: Int32) -> Bool, notify: @escaping @Sendable (String) -> Void
  ) throws(StartError) {
    (self.store, self.start, self.notify) = (store, start, notify)
    do throws(SystemError) { loop = try EventLoop(name: "uploads") } catch { throw StartError("\(error)") }
    do throws(StartError) {
      try probe()
    } catch {
      shutdown()
      throw error
    }
  }

  private func probe() throws(StartError) {
    let end = SetOnce<UploadResult>()
    let wakeSignal: any WakeSignal
    do throws(SystemError) { wakeSignal = try loop.machine.makeWakeSignal() } catch { throw StartError("\(error)") }
    let deadline = loop.now.advanced(by: Self.probeTimeLimit)
    let number = state.withLock { state in
      state.lastNumber += 1
      state.jobs[state.lastNumber] = Job(
        deadline: deadline,
        completions: [
          { result in
            end.set(result)
            wakeSignal.ring()
          }
        ])
      return state.lastNumber
    }
    loop.post { [self] in send(.probe(number, deadline: deadline)) }
    let waitEnd = deadline.advanced(by: .seconds(2))
    while end.value == nil, loop.now < waitEnd { wakeSignal.wait(until: waitEnd) }
    switch end.value {
    case .published: return
    case .failed(_, let explanation): throw StartError("--upload: \(explanation)")
    case nil: throw StartError("--upload: the bucket's server did not answer in time; check --upload-endpoint")
    }
  }

  /// Publishes a file of the store, unless it is known to be published.
  ///
  /// - Parameters:
  ///   - file: a file that the caller has pinned, and unpins after the completion.
  ///   - deadline: the end of the budget. No try begins after it.
  ///   - completion: called once, on any thread, also after the deadline and after ``shutdown()``.
  package func upload(_ file: StoredFile, deadline: MonotonicInstant, completion: @escaping @Sendable (UploadResult) -> Void) {
    enum Way { case known, over, extends(UInt64), begins(UInt64), joins }
    let way = state.withLock { state -> Way in
      guard !state.isOver else { return .over }
      if let young = state.known[file.name] {
        if loop.now < young { return .known }
        state.known[file.name] = nil
      }
      guard let number = state.numbers[file.name], let job = state.jobs[number] else {
        state.lastNumber += 1
        state.numbers[file.name] = state.lastNumber
        state.jobs[state.lastNumber] = Job(file: file, deadline: deadline, completions: [completion])
        return .begins(state.lastNumber)
      }
      state.jobs[number]?.completions.append(completion)
      guard deadline > job.deadline else { return .joins }
      state.jobs[number]?.deadline = deadline
      return .extends(number)
    }
    switch way {
    case .known: completion(.published)
    case .over: completion(Self.over)
    case .joins: break
    case .extends(let number): loop.post { [self] in send(.extend(number, deadline: deadline)) }
    case .begins(let number): loop.post { [self] in send(.upload(number, file: file, deadline: deadline)) }
    }
  }

  private static let over = UploadResult.failed(.uploadFailed, explanation: "attache ends")

  /// Ends all uploads as failed. May be called more than once.
  package func shutdown() {
    let completions = state.withLock { state in
      state.isOver = true
      defer { (state.jobs, state.numbers) = ([:], [:]) }
      return state.jobs.values.flatMap(\.completions)
    }
    loop.post { [self] in disconnect() }
    loop.stop()
    for completion in completions { completion(Self.over) }
  }

  // MARK: The connection

  private func disconnect() {
    guard connection >= 0 else { return }
    loop.unwatch(connection)
    close(connection)
    connection = -1
    unsent = Ring()
  }

  private func send(_ request: UploadRequest) {
    unsent.append(request)
    if connection < 0 { connect() } else { flush() }
  }

  /// Starts an uploader and sends it all jobs.
  private func connect() {
    guard connection < 0, !isStarting, state.withLock({ !$0.isOver }) else { return }
    isStarting = true
    _ = loop.schedule(at: loop.now.advanced(by: pause.length)) { [self] in
      isStarting = false
      _ = pause.next()
      guard let (own, other) = try? MessageSocket.pair() else { return failAll("cannot make a connection to the uploader") }
      let isStarted = start(other)
      close(other)
      guard isStarted else {
        close(own)
        failedStarts += 1
        // The process that starts uploaders may be about to be replaced.
        guard failedStarts >= GrowingPause.maximumFailures else { return connect() }
        failedStarts = 0
        return failAll("the uploader cannot be started")
      }
      failedStarts = 0
      connection = own
      unsent = Ring()
      for (number, job) in state.withLock({ $0.jobs.sorted { $0.key < $1.key } }) {
        unsent.append(
          job.file.map { .upload(number, file: $0, deadline: job.deadline) } ?? .probe(number, deadline: job.deadline))
      }
      flush()
    }
  }

  private func flush() {
    while connection >= 0, !unsent.isEmpty {
      guard let isSent = send(unsent[0], over: connection) else { break }
      _ = unsent.popFirst()
      if !isSent { continue }
    }
    guard connection >= 0 else { return }
    loop.watch(connection, for: unsent.isEmpty ? .readable : [.readable, .writable]) { [self] _, readiness in
      if readiness.contains(.writable) { flush() }
      if readiness != .writable { receive() }
    }
  }

  /// - Returns: nil when the connection takes no more, false when the request was given up.
  private func send(_ request: UploadRequest, over connection: Int32) -> Bool? {
    var file: Int32 = -1
    if case .upload(let number, let stored, _) = request {
      do throws(StoreError) {
        file = try store.open(stored)
      } catch {
        finish(number, .failed(.storeFailed, explanation: "\(error)"))
        return false
      }
    }
    defer { if file >= 0 { close(file) } }
    // If the uploader has ended, the next read shows it, and the job is sent to the next one.
    return !MessageSocket.send(UploadFrame.bytes(of: request), over: connection, with: file) && errno == EAGAIN ? nil : true
  }

  private func receive() {
    guard let (message, file) = MessageSocket.receive(from: connection) else { return ended() }
    if file >= 0 { close(file) }
    guard let reply = try? UploadFrame.reply(message) else { return ended() }
    pause.reset()
    switch reply {
    case .published(let number, let youth):
      let until = loop.now.advanced(by: youth)
      state.withLock { state in
        guard let file = state.jobs[number]?.file else { return }
        if state.known.count >= Self.capacity { state.known.removeAll(keepingCapacity: true) }
        state.known[file.name] = until
      }
      finish(number, .published)
    case .failed(let number, let isRefused, let explanation):
      finish(number, .failed(isRefused ? .uploadRefused : .uploadFailed, explanation: explanation))
    case .notice(let text): notify(text)
    }
  }

  private func finish(_ number: UInt64, _ result: UploadResult) {
    let completions = state.withLock { state -> [Completion] in
      guard let job = state.jobs.removeValue(forKey: number) else { return [] }
      if let file = job.file { state.numbers[file.name] = nil }
      return job.completions
    }
    for completion in completions { completion(result) }
  }

  /// The uploader has ended or sends nonsense. Its jobs go to the next one; a job that has ended two
  /// fails.
  private func ended() {
    disconnect()
    let given = state.withLock { state -> [UInt64] in
      for number in state.jobs.keys { state.jobs[number]?.ends += 1 }
      return state.jobs.filter { $0.value.ends >= 2 }.map(\.key)
    }
    for number in given { finish(number, .failed(.uploadFailed, explanation: "the uploader ended during the upload, twice")) }
    if !didNotify { notify("the uploader ended; another one replaces it (later ones are not reported)") }
    didNotify = true
    if state.withLock({ !$0.jobs.isEmpty }) { connect() }
  }

  private func failAll(_ explanation: String) {
    for number in state.withLock({ Array($0.jobs.keys) }) { finish(number, .failed(.uploadFailed, explanation: explanation)) }
  }
}

/// The result of an upload.
package enum UploadResult: Hashable, Sendable {
  case published
  /// - Parameters:
  ///   - reason: ``Reason/uploadFailed`` or ``Reason/uploadRefused``.
  ///   - explanation: what happened, for the log.
  case failed(Reason, explanation: String)
}
