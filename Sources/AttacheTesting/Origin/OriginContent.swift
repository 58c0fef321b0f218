internal import NIOCore
internal import Synchronization

/// The content of an origin: individually registered paths, then a folder.
final class OriginContent: Sendable {
  /// The content of one path.
  enum Site: Sendable {
    case body(FaultyBody)
    case script(PathScript)
  }

  /// Bytes and the faults that apply to them.
  struct FaultyBody: Sendable {
    var body: ByteBuffer
    var contentType: String
    var faults: [Fault]
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
  func response(to request: RecordedRequest) -> ResponseSteps {
    switch find(request) {
    case .success(.body(let site)): planned(plan(site, for: request), for: request)
    case .success(.script(let script)): played(script, for: request)
    case .failure(let refusal): planned(Self.plainText(status: refusal.status, refusal.text), for: request)
    }
  }

  private func planned(_ plan: ResponsePlan, for request: RecordedRequest) -> ResponseSteps {
    ResponseSteps(plan.steps(hasBody: request.method != "HEAD"))
  }

  private func played(_ path: PathScript, for request: RecordedRequest) -> ResponseSteps {
    let script = ResponseScript(path.steps(turn: nextTurn(of: request)))
    guard request.httpVersion != "2" || script.worksOverHTTP2 else {
      return planned(Self.plainText(status: 501, "this script needs HTTP/1\n"), for: request)
    }
    return ResponseSteps(script, to: request)
  }

  private func plan(_ site: FaultyBody, for request: RecordedRequest) -> ResponsePlan {
    let turn = turn(of: site, path: request.path)
    let faults = site.faults.compactMap { $0.active(turn: turn) }
    if request.httpVersion == "2", let fault = faults.first(where: { !$0.worksOverHTTP2 }) {
      return Self.plainText(status: 501, "\(fault) needs HTTP/1\n")
    }
    var plan = ResponsePlan(body: site.body, contentType: site.contentType)
    for fault in faults { plan.apply(fault, to: request) }
    return plan
  }

  /// Finds a registered target or path. If there is none, parses the faults that the path names and
  /// finds the rest of the path.
  private func find(_ request: RecordedRequest) -> Result<Site, Refusal> {
    let path = request.path
    let (site, playsScripts) = state.withLock { ($0.sites[request.target] ?? $0.sites[path], $0.playsScripts) }
    if let site { return .success(site) }
    guard !playsScripts else { return .failure(Refusal(status: 404, text: "nothing at \(path)\n")) }
    do {
      let (faults, rest) = try FaultPath.parse(path)
      guard var body = registered(rest) ?? file(rest) else { return .failure(Refusal(status: 404, text: "nothing at \(rest)\n")) }
      body.faults = faults + body.faults
      return .success(.body(body))
    } catch {
      return .failure(Refusal(status: 400, text: "\(error)\n"))
    }
  }

  private struct Refusal: Error {
    var status: Int
    var text: String
  }

  private func registered(_ path: String) -> FaultyBody? {
    guard case .body(let body)? = state.withLock({ $0.sites[path] }) else { return nil }
    return body
  }

  private func file(_ path: String) -> FaultyBody? {
    guard let folder else { return nil }
    if path == "/" { return FaultyBody(body: ByteBuffer(string: FaultPath.help), contentType: "text/plain; charset=utf-8", faults: []) }
    return folder.read(path).map { FaultyBody(body: ByteBuffer(bytes: $0), contentType: "application/octet-stream", faults: []) }
  }

  private func turn(of site: FaultyBody, path: String) -> Int {
    site.faults.contains(where: \.counts) ? nextTurn(path: path) : 1
  }

  private func nextTurn(of request: RecordedRequest) -> Int {
    nextTurn(path: state.withLock { $0.sites[request.target] == nil } ? request.path : request.target)
  }

  private func nextTurn(path: String) -> Int {
    state.withLock { state in
      state.turns[path, default: 0] += 1
      return state.turns[path, default: 1]
    }
  }

  static func plainText(status: Int, _ text: String) -> ResponsePlan {
    ResponsePlan(status: status, body: ByteBuffer(string: text), contentType: "text/plain; charset=utf-8")
  }
}

extension PathScript {
  /// Returns the steps for a request; the first turn is 1.
  fileprivate func steps(turn: Int) -> [OriginStep] {
    responses.isEmpty ? [OriginStep(.status(404))] : responses[min(turn, responses.count) - 1]
  }
}

extension Fault {
  /// Whether the fault depends on the number of earlier requests.
  fileprivate var counts: Bool {
    switch self {
    case .times, .after: true
    default: false
    }
  }
}
