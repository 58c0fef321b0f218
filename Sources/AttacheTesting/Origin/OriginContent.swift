internal import Synchronization

/// The content of an origin: individually registered paths, then a folder.
final class OriginContent: Sendable {
  /// The content of one path.
  enum Site: Sendable {
    case body(FaultyBody)
    case script(PathScript)
  }

  private struct State: Sendable {
    var sites: [String: Site] = [:]
    /// The number of requests for a path, where it matters.
    var turns: [String: Int] = [:]
    /// An origin that plays scripts has no fault paths: paths without a script do not exist.
    var playsScripts = false
  }

  private let state = Mutex(State())
  private let folder: OriginFolder?

  init(folder: OriginFolder?) {
    self.folder = folder
  }

  /// Registers content under a path and replaces what was registered there. Its requests count from
  /// 1 again.
  func serve(_ site: Site, at path: String) {
    state.withLock { state in
      state.sites[path] = site
      state.turns[path] = nil
      if case .script = site { state.playsScripts = true }
    }
  }

  /// Returns the response to a request.
  func response(to request: RecordedRequest) -> ResponseScript {
    switch find(request) {
    case .body(let body): body.response(to: request, turn: body.countsRequests ? nextTurn(of: request) : 1)
    case .script(let script): ResponseScript(script.steps(turn: nextTurn(of: request)), to: request)
    }
  }

  /// Finds a registered target or path. If there is none, parses the faults that the path names and
  /// finds the rest of the path.
  private func find(_ request: RecordedRequest) -> Site {
    let path = request.path
    let (site, playsScripts) = state.withLock { ($0.sites[request.target] ?? $0.sites[path], $0.playsScripts) }
    if let site { return site }
    guard !playsScripts else { return Self.nothing(at: path) }
    do {
      let (faults, rest) = try FaultPath.parse(path)
      guard var body = registered(rest) ?? file(rest) else { return Self.nothing(at: rest) }
      body.faults = faults + body.faults
      return .body(body)
    } catch {
      return .body(.plainText("\(error)\n", .status(400)))
    }
  }

  private static func nothing(at path: String) -> Site {
    .body(.plainText("nothing at \(path)\n", .status(404)))
  }

  private func registered(_ path: String) -> FaultyBody? {
    guard case .body(let body)? = state.withLock({ $0.sites[path] }) else { return nil }
    return body
  }

  private func file(_ path: String) -> FaultyBody? {
    guard let folder else { return nil }
    return path == "/" ? .plainText(FaultPath.help) : folder.read(path).map { FaultyBody(bytes: $0) }
  }

  private func nextTurn(of request: RecordedRequest) -> Int {
    state.withLock { state in
      let path = state.sites[request.target] == nil ? request.path : request.target
      state.turns[path, default: 0] += 1
      return state.turns[path, default: 1]
    }
  }
}
