/// The engine that fetches media and serves payloads. The filter, the queue worker and the
/// inspection share it.
package struct EngineAssembly: Sendable {
  package let clock: MonotonicClock
  package let host: ServiceExtensionHost
  private let fetcher: MediaFetcher
  private let uploader: UploadClient?
  /// The user's service extension, if it serves payloads instead of attache's own.
  private let program: ExtensionProgram?

  /// Starts the engine.
  ///
  /// - Parameters:
  ///   - store: belongs to the caller, which shuts it down after ``shutdown()``.
  ///   - parent: starts the fetcher processes; with nil, threads of this process fetch.
  ///   - uploader: publishes the attachments; belongs to the engine.
  ///   - network: the network that those threads use and the machine that everything runs on; nil
  ///     selects the system's.
  ///   - serviceExtension: chooses the extension that serves a request; its argument creates
  ///     attache's own.
  ///   - notify: receives the notices about the fetcher processes.
  ///   - warn: receives the messages about the user's service extension.
  /// - Throws: an error that tells the user why the engine does not start.
  package init(
    _ configuration: EngineConfiguration, store: AttachmentStore, parent: FetcherParent? = nil,
    uploader: UploadClient? = nil, network: FetchNetwork? = nil,
    serviceExtension: @escaping @Sendable (() -> MediaExtension) -> any ServiceExtension = { $0() },
    notify: @escaping @Sendable (FetcherNotice) -> Void = { _ in }, warn: @escaping @Sendable (String) -> Void = { _ in }
  ) throws {
    let fetching = configuration.fetching
    let clock = try MonotonicClock(machine: network?.machine ?? SystemMachine())
    // First, because the extension's process loads its libraries while the fetchers start.
    let program = try configuration.serviceExtension.map { program in
      try ExtensionProgram(
        program, store: store, limits: fetching.limits, conversion: fetching.steps.conversion, uploader: uploader, warn: warn)
    }
    let fetcher: MediaFetcher
    do {
      if let parent {
        fetcher = try MediaFetcher(fetching, store: store, clock: clock, parent: parent, notify: notify)
      } else {
        fetcher = try MediaFetcher(fetching, store: store, clock: clock, network: network ?? .real(fetching))
      }
    } catch {
      program?.shutdown()
      throw error
    }
    let (maximum, onExpiry, uploadsPrivate) = (configuration.maximumAttachments, configuration.onExpiry, configuration.uploadsPrivate)
    host = ServiceExtensionHost(clock: clock, machine: clock.machine, grace: configuration.effectiveGrace) {
      if let program { return program.makeExtension() }
      return serviceExtension {
        MediaExtension(
          fetcher: fetcher, store: store, maximumAttachments: maximum, onExpiry: onExpiry, uploader: uploader,
          uploadsPrivate: uploadsPrivate)
      }
    }
    (self.clock, self.fetcher, self.uploader, self.program) = (clock, fetcher, uploader, program)
  }

  /// Whether media can no longer be fetched.
  package var isBroken: Bool { fetcher.isBroken }

  /// Returns a function that says how many payloads may be undecided at the moment so that their
  /// pictures are converted within the deadline; nil if nothing is converted, or only what the user's
  /// extension attaches, which this process converts.
  package func places(within deadline: Duration) -> (@Sendable () -> Int)? {
    guard program == nil, fetcher.places(within: deadline) != nil else { return nil }
    return { [fetcher] in fetcher.places(within: deadline) ?? .max }
  }

  /// Returns a function that says how long a picture that comes now is expected to wait at most until its
  /// conversion begins; nil if nothing is converted.
  package var conversionWait: (@Sendable () -> Duration)? {
    guard fetcher.conversionWait != nil else { return nil }
    return { [fetcher] in fetcher.conversionWait ?? .zero }
  }

  /// Sets the function to call when these places may have become more although no payload was decided.
  package func whenPlacesRise(_ action: @escaping @Sendable () -> Void) {
    fetcher.whenPlacesRise(action)
  }

  /// Requests the state of the origins' circuit breakers (``MediaFetcher/pulse(_:)``).
  package func pulse(_ answer: @escaping @Sendable (BreakerStates) -> Void) {
    fetcher.pulse(answer)
  }

  /// Ends the service extension and the uploader, writes the HTTP cache, and ends the fetcher's threads. Do not call
  /// this while payloads are served.
  ///
  /// - Returns: a warning for the user about the cache, or nil.
  @discardableResult
  package func shutdown() -> String? {
    program?.shutdown()
    uploader?.shutdown()
    return fetcher.shutdown()
  }
}
