internal import Attache

/// attache's engine in this process. It is assembled as `attache` does, but with the scenario's
/// service extension and machine.
struct InProcessEngine: Sendable {
  /// The reason why the engine does not start, with the exit status that `attache` would return.
  struct Refusal: Error {
    var status: Int32
    var reason: String
  }

  let filter: Filter
  private let clock: MonotonicClock
  private let configuration: EngineConfiguration
  private let store: AttachmentStore
  private let assembly: FilterAssembly
  private let extensions: ScriptedExtensions

  init(_ configuration: EngineConfiguration, serviceExtension: ScriptedExtensionKind, network: FetchNetwork) throws(Refusal) {
    let (store, extensions) = (try Self.open(configuration.store), ScriptedExtensions(serviceExtension, machine: network.machine))
    let uploader: UploadClient?
    do throws(StartError) {
      uploader = try configuration.upload.map { bucket throws(StartError) in
        if let (address, port) = bucket.address { TransferWatch.note([address], port: port) }
        return try UploadClient(store, start: bucket.program.startThread, notify: { _ in })
      }
    } catch {
      store.shutdown()
      throw Refusal(status: ExitStatus.cannotCreate, reason: "\(error)")
    }
    do {
      assembly = try FilterAssembly(
        configuration, store: store, uploader: uploader, network: network, serviceExtension: { extensions.make(media: $0) })
    } catch {
      uploader?.shutdown()
      store.shutdown()
      throw Refusal(status: ExitStatus.software, reason: "\(error)")
    }
    (filter, clock) = (assembly.filter, assembly.engine.clock)
    (self.configuration, self.store, self.extensions) = (configuration, store, extensions)
  }

  private static func open(_ configuration: AttachmentStore.Configuration) throws(Refusal) -> AttachmentStore {
    do { return try AttachmentStore(configuration) } catch { throw Refusal(status: ExitStatus.cannotCreate, reason: "\(error)") }
  }

  /// Runs the filter to the end of its input.
  ///
  /// - Returns: the exit status that `attache` would return.
  func run(input: Int32, output: Int32, on timeline: Timeline) -> Int32 {
    do throws(FilterFailure) {
      return configuration.exitStatus(after: try filter.run(input: input, output: output))
    } catch {
      timeline.note(.filter, "\(error)")
      return ExitStatus.inputOutput
    }
  }

  /// Stops the filter at a time after now, as the script says. It records that on the timeline.
  ///
  /// - Parameter isAnswered: called at that time. The filter is not stopped if it returns true.
  func schedule(_ stop: StopScript, on timeline: Timeline, unless isAnswered: @escaping @Sendable () -> Bool = { false }) {
    _ = clock.schedule(at: clock.now.advanced(by: stop.at)) { [weak filter] in
      guard let filter, !isAnswered() else { return }
      timeline.note(.filter, stop.isCancellation ? "is told to write all originals now" : "is told to stop")
      if stop.isCancellation { filter.cancel() } else { filter.stop() }
    }
  }

  /// Stops the threads. Do not call it while the filter runs.
  func shutdown() {
    extensions.release()
    assembly.engine.shutdown()
    store.shutdown()
  }
}
