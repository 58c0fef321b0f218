internal import Glibc

/// The state of ``ExtensionProcesses``.
///
/// `@unchecked Sendable`: only the loop's thread uses it.
final class ProcessPool: @unchecked Sendable {
  /// How often the memory of busy processes is read.
  static let memoryInterval = Duration.milliseconds(10)
  /// The nice value that is added to each process, so that busy processes do not delay the host.
  private static let niceness: Int32 = 5
  private static let maximumWarnings = 20
  /// How often a process is read in one turn of the loop.
  private static let readsPerTurn = 8

  let configuration: ExtensionProcesses.Configuration
  let folder: ExtensionFolder
  let loop: EventLoop
  private let warn: @Sendable (String) -> Void
  let observe: (@Sendable (ExtensionProcesses.Observation, MonotonicInstant) -> Void)?
  private let check = JSONCheck(capacity: ExtensionFrame.maximumBytes)
  var processes: [ExtensionProcess] = []
  /// Processes that were killed and have not ended yet.
  var leftovers: [ExtensionProcess] = []
  /// Killed processes whose descendants have not been searched for yet.
  private var dying: [StartedProcess] = []
  var waiting = Ring<ExtensionCall>()
  private var started = 0
  var isOver = false
  var memoryTimer: TimerEntry?
  /// How long calls fail at once after a process that never was ready.
  var pause = GrowingPause(first: .milliseconds(100), longest: .seconds(5))
  private var startsAgain = MonotonicInstant.distantPast
  private var warnings: Set<String> = []

  init(
    _ configuration: ExtensionProcesses.Configuration, _ folder: ExtensionFolder, _ loop: EventLoop,
    _ warn: @escaping @Sendable (String) -> Void, _ observe: (@Sendable (ExtensionProcesses.Observation, MonotonicInstant) -> Void)?
  ) {
    (self.configuration, self.folder, self.loop, self.warn, self.observe) = (configuration, folder, loop, warn, observe)
  }

  // MARK: Calls

  func begin(_ call: ExtensionCall) {
    guard !isOver else { return call.end(.failed(.cancelled)) }
    waiting.append(call)
    dispatch()
  }

  func expire(_ call: ExtensionCall) {
    guard !call.isEnded else { return }
    guard let process = call.process else {
      call.isExpired = true
      return
    }
    send(process) { ExtensionFrame.appendExpire(call.number, to: &$0) }
  }

  func finish(_ call: ExtensionCall) {
    guard !call.isFinished else { return }
    let isUnanswered = !call.isEnded
    call.abandon()
    guard let process = call.process else { return }
    process.calls[call.number] = nil
    if isUnanswered { process.isRetiring = true }
    if process.isRetiring, process.calls.isEmpty {
      end(process, verdict: .deadline)
    } else {
      send(process) { ExtensionFrame.appendFinish(call.number, to: &$0) }
    }
    // Calls often finish together. A process must not be started for one that is about to.
    loop.later { [weak self] in self?.dispatch() }
  }

  func prepare() {
    if processes.isEmpty { _ = start() }
  }

  /// Passes waiting calls to processes, as far as there is room.
  func dispatch() {
    while waiting.count > 0 {
      guard !waiting[0].isFinished else {
        _ = waiting.popFirst()
        continue
      }
      guard let process = processWithRoom() else { return }
      guard let call = waiting.popFirst() else { return }
      call.process = process
      process.calls[call.number] = call
      send(process) { [configuration] bytes in
        ExtensionFrame.appendRequest(
          call.number, isReused: configuration.reusesInstance, identifier: call.identifier, payload: call.payload, to: &bytes)
      }
      if call.isExpired { send(process) { ExtensionFrame.appendExpire(call.number, to: &$0) } }
      watchMemory()
    }
  }

  /// Returns the least busy process, or a new one if all are busy.
  private func processWithRoom() -> ExtensionProcess? {
    let able = processes.filter { !$0.isRetiring && $0.load < configuration.concurrency }
    let idlest = able.min { $0.load < $1.load }
    if let idlest, idlest.load == 0 || processes.count >= configuration.processes { return idlest }
    guard processes.count < configuration.processes else { return idlest }
    return start() ?? idlest
  }

  /// Ends the processes that have no call, as iOS ends an app in the background.
  func endIdle() {
    for process in processes where process.calls.isEmpty { end(process, verdict: .cancelled) }
  }

  // MARK: Processes

  /// The number of a process's home.
  private func home(of process: Int) -> Int { configuration.sharesHome ? 1 : process }

  private func start() -> ExtensionProcess? {
    guard loop.now >= startsAgain else {
      failWaiting()
      return nil
    }
    started += 1
    do throws(SystemError) {
      let (own, other) = try SocketStream.pair()
      defer { close(other) }
      let stream = SocketStream(own)
      let process = ExtensionProcess(number: started, child: try launch(socket: other), stream: stream, start: loop.now)
      processes.append(process)
      watchOutput(of: process)
      observe?(.started(process: process.process.identifier), loop.now)
      send(process) { [configuration] in ExtensionFrame.appendSettings(configuration.network.json, to: &$0) }
      return processes.contains { $0 === process } ? process : nil
    } catch {
      say("the service extension cannot be started: \(error)")
      noteFailedStart()
      return nil
    }
  }

  private func launch(socket: Int32) throws(SystemError) -> ChildProcess {
    var launch = ProcessLaunch([configuration.program])
    launch.environment = try folder.makeHome(home(of: started))
    for name in ["PATH", "LANG", "TZ", "LD_LIBRARY_PATH"] {
      if let value = unsafe getenv(name) { launch.environment[name] = unsafe String(cString: value) }
    }
    // The file and the line of a trap, and no thread but the one that trapped.
    launch.environment["SWIFT_BACKTRACE"] = "enable=yes,threads=crashed,images=none,registers=none,color=no,sanitize=no"
    launch.environment.merge(configuration.environment) { _, new in new }
    (launch.input, launch.errors) = (.file("/dev/null"), .output)
    (launch.socket, launch.leadsSession) = (socket, true)
    let child = try ChildProcess(launch)
    child.process.yield(Self.niceness)
    return child
  }

  private func watchOutput(of process: ExtensionProcess) {
    loop.watch(process.child.output, for: .readable) { [weak self, weak process] _, _ in
      if let self, let process { readOutput(of: process) }
    }
  }

  /// Reads what a process has printed. One that prints without end is read slowly, and waits.
  private func readOutput(of process: ExtensionProcess) {
    guard let count = process.readOutput(configuration.print) else {
      loop.unwatch(process.child.output)
      return process.child.closeOutput()
    }
    guard count > 0, process.hasPrintedMuch(at: loop.now) else { return }
    loop.unwatch(process.child.output)
    _ = loop.schedule(at: loop.now.advanced(by: ExtensionProcess.outputInterval)) { [weak self, weak process] in
      guard let self, let process, process.child.output >= 0 else { return }
      watchOutput(of: process)
    }
  }

  private func send(_ process: ExtensionProcess, _ content: (inout [UInt8]) -> Void) {
    guard !process.isEnded else { return }
    let isSent = process.send(on: loop, content) { [weak self, weak process] in
      if let self, let process { isReadable(process) }
    }
    if !isSent { end(process, verdict: nil) }
  }

  private func isReadable(_ process: ExtensionProcess) {
    do throws(FrameStream.Fault) {
      // One that sends without end must not keep the others waiting.
      for _ in 0..<Self.readsPerTurn where !process.isEnded {
        // The events are handled afterwards, because the replies go through the same stream.
        var events: [ExtensionEvent] = []
        defer { for event in events { take(event, from: process) } }
        let isMore = try process.receive { frame throws(FrameStream.Fault) in events.append(try ExtensionEvent(frame: frame, check: check))
        }
        if !isMore { break }
      }
      guard !process.isEnded else { return dispatch() }
      _ = process.flush(on: loop) { [weak self, weak process] in
        if let self, let process { isReadable(process) }
      }
    } catch {
      if error == .invalid { say("the service extension wrote to the descriptor of attache's frames, and was ended") }
      end(process, verdict: nil)
    }
    dispatch()
  }

  /// Ends a process and all that it has started. Its calls fail.
  func end(_ process: ExtensionProcess, verdict: Reason?) {
    guard let index = processes.firstIndex(where: { $0 === process }) else { return }
    processes.remove(at: index)
    process.isEnded = true
    // Waiting calls get another process.
    loop.later { [weak self] in self?.dispatch() }
    loop.unwatch(process.socket)
    process.verdict = verdict
    process.process.send(SIGKILL)
    // Many processes often end together, so one search of /proc serves all of them.
    dying.append(process.process)
    if dying.count == 1 { loop.later { [weak self] in self?.endSessions() } }
    loop.unwatch(process.child.output)
    // The last output of a crash is in the pipe.
    for _ in 0..<16 where process.readOutput(configuration.print) ?? 0 > 0 {}
    process.child.closeOutput()
    awaitEnd(of: process)
    if !process.isReady, verdict == nil {
      say("the service extension ended before it was ready; \(configuration.program) must be a program that attache extension build made")
      noteFailedStart()
    }
    let reason: Reason = verdict == .extensionMemory ? .extensionMemory : .extensionCrash
    for call in process.calls.values.sorted(by: { $0.number < $1.number }) { call.end(.failed(reason)) }
  }

  /// Ends all that the killed processes have started.
  func endSessions() {
    StartedProcess.endSessions(of: dying)
    dying = []
  }

  func noteFailedStart() {
    startsAgain = loop.now.advanced(by: pause.next())
    failWaiting()
  }

  private func failWaiting() {
    guard processes.isEmpty else { return }
    while let call = waiting.popFirst() { call.end(.failed(.extensionCrash)) }
  }

  func say(_ text: String) {
    // Some messages have an extension's own words.
    if warnings.count < Self.maximumWarnings, warnings.insert(text).inserted { warn(text) }
  }
}
