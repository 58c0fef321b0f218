internal import Synchronization

/// Counts the events of a stage's servers, adds them to the timeline, and passes them on.
final class StageLedger: Sendable {
  private struct State {
    var requests: [String: Int] = [:]
    var fields: Set<String> = []
    var namesAsked: Set<String> = []
    var isFirst = true
    var failure: StageError?
  }

  private let state = Mutex(State())
  private let timeline: Timeline
  private let disk: ScenarioDisk?
  private let watch: @Sendable (StageEvent) -> Void

  init(timeline: Timeline, disk: ScenarioDisk?, watch: @escaping @Sendable (StageEvent) -> Void) {
    self.timeline = timeline
    self.disk = disk
    self.watch = watch
  }

  var requests: [String: Int] { state.withLock { $0.requests } }
  /// The names of the fields of all requests, in lower case.
  var fields: Set<String> { state.withLock { $0.fields } }
  var namesAsked: Set<String> { state.withLock { $0.namesAsked } }
  var failure: StageError? { state.withLock { $0.failure } }

  /// Records that a name was asked for, when there is no name server.
  func noteName(_ name: String) {
    state.withLock { _ = $0.namesAsked.insert(name) }
  }

  /// Records that the stage has failed; the first failure counts.
  func fail(_ error: StageError) {
    state.withLock { $0.failure = $0.failure ?? error }
  }

  /// Records an event at an origin.
  ///
  /// - Parameter name: the origin's name in the scenario.
  func note(_ event: OriginEvent, at name: String, _ script: OriginScript) {
    let prefix = name == "origin" ? "" : name
    switch event {
    case .connection(let number): timeline.note(.origin, "\(prefix.isEmpty ? "" : prefix + " ")accepts connection \(number)")
    case .request(let request):
      let path = prefix + script.path(of: request.target)
      timeline.note(.origin, "\(request.method) \(path) on connection \(request.connection)", at: request.arrival)
      count(path, request)
      watch(.request)
    case .head(let path, let status): timeline.note(.origin, "\(prefix)\(path): \(status)")
    case .sent(let path, let bytes):
      timeline.note(.origin, sent: bytes, of: "\(prefix)\(path)")
      watch(.sent)
    case .stalled(let path): timeline.note(.origin, "\(prefix)\(path): stalls")
    case .reset(let path): timeline.note(.origin, "\(prefix)\(path): resets the connection")
    case .closed(let path): timeline.note(.origin, "\(prefix)\(path): closes the connection")
    case .fetcher(let path, let fault, isReached: true): timeline.note(.origin, "\(prefix)\(path): \(fault.rawValue)")
    case .fetcher(let path, let fault, isReached: false):
      let what = "the rehearsal cannot see the process that sent the request; run as root with CAP_SYS_PTRACE"
      fail(.unavailable("\(prefix)\(path): \(fault.rawValue): \(what)"))
    case .finished(let path): timeline.note(.origin, "\(prefix)\(path): done")
    }
  }

  private func count(_ path: String, _ request: RecordedRequest) {
    let isFirst = state.withLock { state in
      state.requests[path, default: 0] += 1
      state.fields.formUnion(request.fields.map { $0.name.lowercased() })
      defer { state.isFirst = false }
      return state.isFirst
    }
    guard isFirst, let disk else { return }
    do throws(StageError) {
      if let change = try disk.requestCame() { timeline.note(.disk, change) }
    } catch {
      fail(error)
    }
  }
}
