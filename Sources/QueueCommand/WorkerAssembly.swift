import Attache
import AttacheArguments
import AttacheQueue
import Synchronization

/// A queue's worker as the flags have it, with the fetcher that it has payloads served by.
struct WorkerAssembly {
  let worker: QueueWorker
  private let fetcher: MediaFetcher
  private let store: AttachmentStore

  /// - Parameters:
  ///   - queue: stays the caller's.
  ///   - keepsQueue: whether the queue is there after the run.
  ///   - tell: receives what the user should know, on a thread of its own.
  /// - Throws: what says why a worker does not start, in words for its user.
  init(
    _ options: WorkOptions, _ location: QueueLocation, queue: any PayloadQueue, keepsQueue: Bool, store: AttachmentStore,
    parent: FetcherParent,
    isOnce: Bool, observer: some WorkerObserver, tell: @escaping @Sendable (WorkerNotice) -> Void,
    tellOfFetchers: @escaping @Sendable (FetcherNotice) -> Void
  ) throws {
    var configuration = WorkerConfiguration(queueName: location.description)
    configuration.filter = try options.engine.configuration()
    configuration.attempts = options.attempts
    configuration.poisonAfter = options.poisonAfter
    configuration.sync = options.sync
    (configuration.keepsQueue, configuration.isOnce) = (keepsQueue, isOnce)
    let clock = try MonotonicClock()
    let ending = Mutex<(@Sendable () -> Void)?>(nil)
    let fetcher = try MediaFetcher(options.engine.fetching.configuration, store: store, clock: clock, parent: parent) { notice in
      tellOfFetchers(notice)
      if case .broken = notice { ending.withLock { $0 }?() }
    }
    let timing = options.engine.timing
    let host = ServiceExtensionHost(clock: clock, grace: timing.effectiveGrace) {
      MediaExtension(fetcher: fetcher, store: store, maximumAttachments: timing.maxAttachments, onExpiry: timing.onExpiry)
    }
    worker = try QueueWorker(configuration, queue: queue, host: host, store: store, clock: clock, observer: observer, tell: tell)
    ending.withLock { [worker] in $0 = { worker.cancel() } }
    if fetcher.isBroken { worker.cancel() }
    (self.fetcher, self.store) = (fetcher, store)
  }

  /// Whether no media can be fetched any more.
  var isBroken: Bool { fetcher.isBroken }

  /// What asks the fetcher how its origins stand.
  var pulses: [MetricsCollector.Pulse] {
    [{ [fetcher] in fetcher.pulse($0) }]
  }

  /// Ends the fetcher's threads; not while the worker runs.
  ///
  /// - Returns: what the user should know of the cache.
  func shutdown() -> String? {
    let warning = fetcher.shutdown()
    store.shutdown()
    return warning
  }
}
