internal import Attache
internal import FoundationEssentials
internal import Synchronization

/// Plays one situation with a service extension, on the calling thread.
final class ExtensionPlay: Sendable {
  /// How long the expiry method may take.
  private static let expiryTimeLimit = Duration.seconds(2)
  /// How long the extension has to answer after its expiry method has returned.
  private static let grace = Duration.milliseconds(400)
  /// How long the instance may exist after its answer.
  private static let leakTimeLimit = Duration.milliseconds(100)
  /// How long an extension may take to cancel its download after its answer.
  private static let cancelTimeLimit = Duration.milliseconds(200)
  /// How long is waited for what comes after the end of a slow situation.
  private static let afterwards = Duration.milliseconds(600)
  /// How long to wait for downloads that outlive the answer. Their handlers may answer again.
  private static let lateDownloads = Duration.seconds(2)
  /// How long an app may take to start again and to finish its downloads.
  private static let restart = Duration.seconds(10)
  /// The most background sessions of whose events an app is told.
  private static let mostSessions = 8
  /// The most notes, refusals and transfers that are kept: an extension may send them without end.
  private static let mostNotes = 1_000

  private struct State: Sendable {
    var evidence = ExtensionEvidence()
    /// The index of each request, by its number in the frames.
    var indices: [UInt64: Int] = [:]
    /// The requests whose expiry method has returned.
    var expired: Set<UInt64> = []
    var finished: Set<UInt64> = []
    /// Whether the app was started again for the events of its background sessions.
    var isRestarted = false
    /// The index of each transfer, by its number in the process.
    var transfers: [Int: Int] = [:]
    /// What the extension printed: the first and the last bytes.
    var (firstOutput, lastOutput) = ([UInt8](), [UInt8]())
  }

  /// The bytes that are kept of the beginning and of the end of what an extension prints.
  private static let keptOutput = 32 << 10

  private let situation: ExtensionSituation
  private let budget: Duration
  private let signal: any WakeSignal
  private let state = Mutex(State())

  init(_ situation: ExtensionSituation, budget: Duration) throws(SystemError) {
    (self.situation, self.budget) = (situation, budget)
    signal = try SystemMachine().makeWakeSignal()
  }

  /// Receives everything that the processes do.
  func observe(_ observation: ExtensionProcesses.Observation, at instant: MonotonicInstant) {
    state.withLock { note(observation, instant, &$0) }
    signal.ring()
  }

  /// Receives what the extension prints.
  func note(output: ArraySlice<UInt8>) {
    state.withLock { state in
      let room = max(0, Self.keptOutput - state.firstOutput.count)
      state.firstOutput += output.prefix(room)
      state.lastOutput += output.dropFirst(room)
      if state.lastOutput.count > 2 * Self.keptOutput { state.lastOutput.removeFirst(state.lastOutput.count - Self.keptOutput) }
    }
  }

  var output: String {
    state.withLock { String(decoding: $0.firstOutput + $0.lastOutput, as: UTF8.self) }
  }

  private func note(_ observation: ExtensionProcesses.Observation, _ instant: MonotonicInstant, _ state: inout State) {
    switch observation {
    case .started: break
    case .ended(_, let end, let verdict, let peak):
      guard verdict == nil || verdict == .extensionMemory || verdict == .extensionCrash else { return }
      state.evidence.deaths.append(.init(end: end, isForMemory: verdict == .extensionMemory, peakMemory: peak))
    case .event(let event): note(event, instant, &state)
    }
  }

  private func note(_ event: ExtensionEvent, _ instant: MonotonicInstant, _ state: inout State) {
    func change(_ number: UInt64, _ body: (inout ExtensionEvidence.Request) -> Void) {
      if let index = state.indices[number] { body(&state.evidence.requests[index]) }
    }
    switch event {
    case .began(let number): change(number) { $0.began = instant }
    case .returned(let number): change(number) { $0.returned = instant }
    case .answer(let number, _, let answer):
      change(number) { request in
        request.answers.append(instant)
        if request.answer == nil { request.answer = answer }
      }
    case .completed(let number, _, let result):
      change(number) { request in
        request.answers.append(instant)
        request.results.append(result)
      }
    case .finished(let number, let isAlive, let isChangedAfter):
      change(number) { ($0.isAlive, $0.isChangedAfter) = (isAlive, isChangedAfter) }
      if state.indices[number] != nil { state.finished.insert(number) }
    case .refusedAttachment(let path, let code, let message):
      if state.evidence.refusals.count < Self.mostNotes { state.evidence.refusals.append((path, code, message)) }
    case .transferBegan(let number, let url):
      guard state.evidence.transfers.count < Self.mostNotes else { break }
      state.transfers[number] = state.evidence.transfers.count
      state.evidence.transfers.append(.init(url: url, began: instant, isInBackground: state.isRestarted))
    case .transferEnded(let number, let transfer):
      if let index = state.transfers[number] { state.evidence.transfers[index].end = (instant, transfer) }
    case .unreadable(let number, let why):
      change(number) { $0.answers.append(instant) }
      if state.evidence.notes.count < Self.mostNotes { state.evidence.notes.append(("userinfo.unserialisable", why)) }
    case .note(let name, let text): if state.evidence.notes.count < Self.mostNotes { state.evidence.notes.append((name, text)) }
    case .background(let download): if state.evidence.background.count < Self.mostNotes { state.evidence.background.append(download) }
    case .expired(let number): if state.indices[number] != nil { state.expired.insert(number) }
    case .ready: break
    }
  }

  /// Plays the payloads.
  ///
  /// - Parameters:
  ///   - payloads: the payloads, and the bytes of the picture that each leads to.
  ///   - isFresh: whether each notification gets a new process.
  ///   - release: lets a slow origin answer.
  /// - Returns: the evidence, without what the processes leave behind.
  func run(
    _ payloads: [(bytes: [UInt8], expected: [UInt8]?)], _ processes: ExtensionProcesses, _ intake: AttachmentIntake, isFresh: Bool,
    release: () -> Void
  ) -> ExtensionEvidence {
    switch situation.order {
    case .oneAfterAnother:
      for payload in payloads {
        finish(begin(payload, processes), processes, intake, release)
        if isFresh { processes.endIdle() }
      }
    case .atOnce:
      let calls = payloads.map { begin($0, processes) }
      for call in calls { finish(call, processes, intake, release) }
    }
    for session in restart(processes) { tell(session, processes) }
    return state.withLock { $0.evidence }
  }

  private func begin(_ payload: (bytes: [UInt8], expected: [UInt8]?), _ processes: ExtensionProcesses) -> (ExtensionCall, MonotonicInstant)
  {
    let deadline = MonotonicInstant.now.advanced(by: budget)
    // The loop may report the first events before this thread knows the call's number.
    let call = state.withLock { state in
      let identifier = situation.isBackgroundFetch ? "background-fetch" : "\(state.evidence.requests.count + 1)"
      return record(
        ExtensionEvidence.Request(payload: payload.bytes, expected: payload.expected), as: identifier, processes, &state)
    }
    return (call, deadline)
  }

  /// Passes a request to a process.
  private func record(
    _ request: ExtensionEvidence.Request, as identifier: String, _ processes: ExtensionProcesses, _ state: inout State
  ) -> ExtensionCall {
    let call = processes.call(identifier: identifier, payload: request.payload) { [self] end in
      if case .failed = end { note(failureOf: request.payload) }
    }
    state.indices[call.number] = state.evidence.requests.count
    state.evidence.requests.append(request)
    return call
  }

  /// Ends the app if downloads of its background sessions outlive it.
  ///
  /// - Returns: the sessions of these downloads.
  private func restart(_ processes: ExtensionProcesses) -> [UntrustedText] {
    let sessions = state.withLock { state -> [UntrustedText] in
      guard state.evidence.deaths.isEmpty else { return [] }
      state.evidence.backgroundBeforeRestart = state.evidence.background.count
      state.isRestarted = true
      var sessions: [UntrustedText] = []
      for download in state.evidence.outlivingDownloads where !sessions.contains(download.session) { sessions.append(download.session) }
      return sessions
    }
    if !sessions.isEmpty { processes.endIdle() }
    return Array(sessions.prefix(Self.mostSessions))
  }

  /// Starts the app again for the events of a background session.
  private func tell(_ session: UntrustedText, _ processes: ExtensionProcesses) {
    var json = JSONWriter()
    json.beginObject()
    json.key("session")
    json.string(session)
    json.endObject()
    let call = state.withLock { state in
      record(ExtensionEvidence.Request(payload: json.bytes, session: session), as: "background-events", processes, &state)
    }
    _ = wait(until: .now.advanced(by: Self.restart)) { state in self.request(call, state)?.began != nil || self.isDecided(call, state) }
    if !wait(until: .now.advanced(by: budget), { self.isDecided(call, $0) }) {
      state.withLock { state in
        if let index = state.indices[call.number] { state.evidence.requests[index].isUnanswered = true }
      }
    }
    _ = wait(until: .now.advanced(by: Self.afterwards)) { state in
      let delivered = state.evidence.background.filter { $0.event == .delivered }
      return state.evidence.outlivingDownloads.allSatisfy { download in
        download.session != session || delivered.contains { $0.isSameDownload(as: download) }
      }
    }
    processes.finish(call)
  }

  private func request(_ call: ExtensionCall, _ state: State) -> ExtensionEvidence.Request? {
    state.indices[call.number].map { state.evidence.requests[$0] }
  }

  private func note(failureOf payload: [UInt8]) {
    state.withLock { state in
      for index in state.evidence.requests.indices where state.evidence.requests[index].payload == payload {
        if state.evidence.requests[index].answers.isEmpty { state.evidence.requests[index].isCrashed = true }
      }
    }
    signal.ring()
  }

  private func finish(
    _ begun: (call: ExtensionCall, deadline: MonotonicInstant), _ processes: ExtensionProcesses, _ intake: AttachmentIntake,
    _ release: () -> Void
  ) {
    let (call, deadline) = begun
    if !wait(until: deadline, { self.isDecided(call, $0) }) {
      state.withLock { state in
        if let index = state.indices[call.number] { state.evidence.requests[index].expired = .now }
      }
      processes.expire(call)
      _ = wait(until: .now.advanced(by: Self.expiryTimeLimit)) { state in
        state.expired.contains(call.number) || self.isDecided(call, state)
      }
      if !wait(until: .now.advanced(by: Self.grace), { self.isDecided(call, $0) }) {
        state.withLock { state in
          if let index = state.indices[call.number] { state.evidence.requests[index].isUnanswered = true }
        }
      }
    }
    take(call, intake)
    if situation.isSlow {
      _ = wait(until: .now.advanced(by: Self.cancelTimeLimit)) { state in state.evidence.transfers.allSatisfy { $0.end != nil } }
      release()
      _ = wait(until: .now.advanced(by: Self.afterwards)) { state in
        state.evidence.requests.allSatisfy { $0.answers.count > 1 } && state.evidence.transfers.allSatisfy { $0.end != nil }
      }
    } else {
      _ = wait(until: .now.advanced(by: Self.lateDownloads)) { state in
        state.evidence.transfers.allSatisfy { $0.end != nil || $0.isInBackground }
      }
    }
    _ = wait(until: .now.advanced(by: Self.leakTimeLimit)) { _ in false }
    processes.finish(call)
    _ = wait(until: .now.advanced(by: .seconds(1))) { $0.finished.contains(call.number) || self.isCrashed(call, $0) }
  }

  private func isDecided(_ call: ExtensionCall, _ state: State) -> Bool {
    guard let index = state.indices[call.number] else { return false }
    return !state.evidence.requests[index].answers.isEmpty || state.evidence.requests[index].isCrashed
  }

  private func isCrashed(_ call: ExtensionCall, _ state: State) -> Bool {
    guard let index = state.indices[call.number] else { return true }
    let request = state.evidence.requests[index]
    return request.isCrashed || request.answers.isEmpty || !state.evidence.deaths.isEmpty
  }

  /// Takes the files of the answer, as the system does.
  private func take(_ call: ExtensionCall, _ intake: AttachmentIntake) {
    let attachments = state.withLock { state in
      state.indices[call.number].flatMap { state.evidence.requests[$0].answer?.attachments } ?? []
    }
    guard !attachments.isEmpty else { return }
    intake.take(attachments) { [self] files in
      state.withLock { state in
        guard let index = state.indices[call.number] else { return }
        state.evidence.requests[index].attached = zip(attachments, files).map { .init(attachment: $0, file: $1.file) }
      }
      signal.ring()
    }
    _ = wait(until: .now.advanced(by: .seconds(10))) { state in
      state.indices[call.number].map { !state.evidence.requests[$0].attached.isEmpty } ?? true
    }
  }

  /// Waits until the condition holds.
  ///
  /// - Returns: whether it held before `instant`.
  private func wait(until instant: MonotonicInstant, _ condition: (State) -> Bool) -> Bool {
    while true {
      if state.withLock({ condition($0) }) { return true }
      guard .now < instant else { return false }
      signal.wait(until: instant)
    }
  }
}
