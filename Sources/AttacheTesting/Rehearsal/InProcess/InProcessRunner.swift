internal import Attache
internal import Glibc
internal import Synchronization

/// A run of the engine on a stage, controlled by the thread that talks to the filter.
final class InProcessRunner: Sendable {
  private let stage: ScenarioStage
  private let gauge = ProcessGauge()
  private let exitStatus = Mutex<Int32?>(nil)
  private let running = Mutex<(filter: Filter?, isCancelled: Bool)>((nil, false))

  init(on stage: ScenarioStage) {
    self.stage = stage
  }

  /// Counts the open descriptors; can be called from any thread.
  var observe: @Sendable () -> Void {
    { [gauge, stage] in gauge.look(others: stage.openConnections) }
  }

  /// Makes the filter decide everything immediately and end. It can be called from any thread.
  func cancel() {
    let filter = running.withLock { running in
      running.isCancelled = true
      return running.filter
    }
    filter?.cancel()
  }

  /// Plays the scenario. The store must exist until it returns.
  func run() throws(StageError) -> Evidence {
    var evidence = Evidence(input: stage.input, endsWithLineFeed: stage.scenario.endsWithLineFeed, filter: stage.configuration.filter)
    do throws(InProcessEngine.Refusal) {
      let engine = try InProcessEngine(stage.configuration, serviceExtension: stage.scenario.serviceExtension, network: network)
      try converse(with: engine, &evidence)
    } catch {
      stage.timeline.note(.filter, "does not start: \(error.reason)")
      evidence.exitStatus = error.status
    }
    stage.complete(&evidence)
    (evidence.memory, evidence.descriptors) = (gauge.memory, gauge.descriptors)
    return evidence
  }

  /// The system's network. On a loopback stage, the engine can reach only loopback.
  private var network: FetchNetwork {
    let system = TransferWatch.watching(.real(stage.configuration.fetching))
    return stage.network == nil ? system.onLoopback { [stage] in stage.note(beyondLoopback: $0, port: $1) } : system
  }

  private func converse(with engine: InProcessEngine, _ evidence: inout Evidence) throws(InProcessEngine.Refusal) {
    let ends = try start(engine)
    let isCancelled = running.withLock { running in
      running.filter = engine.filter
      return running.isCancelled
    }
    if isCancelled { engine.filter.cancel() }
    let start = MonotonicInstant.now
    stage.timeline.start = start
    if let stop = stage.scenario.stop { engine.schedule(stop, on: stage.timeline) }
    var conversation = Conversation(
      stage.input, endsWithLineFeed: stage.scenario.endsWithLineFeed, ends: ends, start: start, progressed: observe)
    let isOver = goOn(&conversation, engine)
    conversation.close()
    evidence.hung = !isOver
    evidence.elapsed = start.duration(to: .now)
    (evidence.output, evidence.arrivals) = (conversation.received, conversation.arrivals)
    evidence.exitStatus = exitStatus.withLock { $0 }
    // A filter that still runs needs its threads, so they are not stopped.
    if evidence.exitStatus != nil { engine.shutdown() }
  }

  /// Runs the filter on a new thread, and returns the ends of its pipes.
  private func start(_ engine: InProcessEngine) throws(InProcessEngine.Refusal) -> PipePump.Ends {
    do throws(SystemError) {
      let (toFilter, fromFilter) = (try DataPipe(), try DataPipe())
      let (input, output) = (toFilter.readEnd, fromFilter.writeEnd)
      try SystemMachine().start("filter") { [self] in
        let status = engine.run(input: input, output: output, on: stage.timeline)
        exitStatus.withLock { $0 = status }
        close(input)
        close(output)
      }.detach()
      // The thread closes them.
      _ = (toFilter.takeRead(), fromFilter.takeWrite())
      return PipePump.Ends(input: toFilter.takeWrite(), output: fromFilter.takeRead())
    } catch {
      throw InProcessEngine.Refusal(status: ExitStatus.software, reason: "\(error)")
    }
  }

  /// - Returns: whether the filter ended by itself, at the latest when its input ended.
  private func goOn(_ conversation: inout Conversation, _ engine: InProcessEngine) -> Bool {
    let timeLimit = stage.scenario.deadline * 2 + .seconds(5)
    if conversation.goOn(timeLimit: timeLimit) == .closed { return true }
    stage.timeline.note(.filter, "has written nothing for \(Milliseconds(timeLimit)): its input is closed")
    conversation.closeInput()
    if conversation.goOn(timeLimit: timeLimit) == .closed { return true }
    stage.timeline.note(.filter, "does not end: it is told to write all originals now")
    engine.filter.cancel()
    _ = conversation.goOn(timeLimit: .seconds(5))
    return false
  }
}
