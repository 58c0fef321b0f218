@testable import Attache
import AttacheQueue
import Synchronization
import Testing

/// A worker with its own queue. The test decides how payloads are processed.
final class WorkerRig: Sendable {
  typealias Serve = @Sendable (NotificationRequest, ExtensionReply) -> Void

  let queue: TestQueue
  let store: AttachmentStore
  let clock: MonotonicClock
  let observer: WatchingObserver

  /// - Parameter storeFolder: the folder of the store; nil for a folder beside the queue.
  init(_ backend: QueueBackend = .sqlite, storeFolder: String? = nil) throws {
    queue = try TestQueue(backend)
    store = try AttachmentStore(
      directory: storeFolder ?? queue.folder + "/store", maximumBytes: 1_000_000_000, maximumAge: .seconds(86_400))
    clock = try MonotonicClock()
    observer = WatchingObserver()
  }

  /// A worker with another handle of the queue.
  func worker(
    on opened: any PayloadQueue, _ change: (inout WorkerConfiguration) -> Void = { _ in },
    notify: @escaping @Sendable (WorkerNotice) -> Void = { _ in }, serve: @escaping Serve
  ) throws -> QueueWorker {
    var configuration = WorkerConfiguration(queue: queue.location)
    configuration.isOnce = true
    change(&configuration)
    let host = ServiceExtensionHost(clock: clock, grace: .milliseconds(50)) { ServingExtension(serve) }
    return try QueueWorker(
      configuration, queue: opened, host: host, store: store, clock: clock, queueClock: queue.clock, observer: observer, notify: notify)
  }

  /// A file in the store, pinned once.
  func file(_ text: String) throws -> StoredFile {
    try unsafe Array(text.utf8).withUnsafeBytes { try unsafe store.add($0, type: .jpeg) }
  }
}

/// Answers immediately, or when the test does.
final class ServingExtension: ServiceExtension {
  static let returnsAtOnce = true

  private let serve: WorkerRig.Serve

  init(_ serve: @escaping WorkerRig.Serve) {
    self.serve = serve
  }

  func didReceive(_ request: NotificationRequest, answer: ExtensionReply) {
    serve(request, answer)
  }
}

/// Records what a worker reports, and runs the test's reaction immediately.
final class WatchingObserver: WorkerObserver {
  struct Finished: Equatable {
    var outcome: Outcome
    var reason: Reason?
  }

  private struct State {
    var finished: [Finished] = []
    var postponed = 0
    var refused = 0
    var onPostponed: Action?
    var onFinished: Action?
    var pauses: [String?] = []
    var onPaused: PauseAction?
  }

  private struct PauseAction {
    var body: @Sendable (String?) -> Void
  }

  private struct Action {
    var body: @Sendable () -> Void
  }

  private let state = Mutex(State())

  var finished: [Finished] { state.withLock { $0.finished } }
  var postponed: Int { state.withLock { $0.postponed } }
  var refusals: Int { state.withLock { $0.refused } }

  func onPostponed(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.onPostponed = Action(body: body) } }
  func onFinished(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.onFinished = Action(body: body) } }

  func finished(_ outcome: Outcome, _ reason: Reason?, elapsed: Duration, lateness: Duration, media: [MediaRecord]) {
    let action = state.withLock { state in
      state.finished.append(Finished(outcome: outcome, reason: reason))
      return state.onFinished
    }
    action?.body()
  }

  func postponed(_ reason: Reason?) {
    let action = state.withLock { state in
      state.postponed += 1
      return state.onPostponed
    }
    action?.body()
  }

  func refused() { state.withLock { $0.refused += 1 } }

  func holding(_ payloads: Int) {}

  /// The cause of each pause, and nil for each end of a pause.
  var pauses: [String?] { state.withLock { $0.pauses } }

  func onPaused(_ body: @escaping @Sendable (String?) -> Void) { state.withLock { $0.onPaused = PauseAction(body: body) } }

  func paused(_ why: String?) {
    let action = state.withLock { state in
      state.pauses.append(why)
      return state.onPaused
    }
    action?.body(why)
  }
}

/// The lines of a test.
enum WorkerLine {
  /// A payload for which a service extension runs.
  static func candidate(_ number: Int) -> String {
    #"{"aps":{"alert":"\#(number)","mutable-content":1},"image":"https://origin.test/\#(number).jpg"}"#
  }

  static let plain = #"{"aps":{"alert":"plain"}}"#
}
