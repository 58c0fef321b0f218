internal import NIOCore
internal import Synchronization

/// What an origin serves: paths registered one by one, and a folder behind them.
final class OriginContent: Sendable {
  /// What stands under one path.
  struct Site: Sendable {
    var body: ByteBuffer
    var contentType: String
    var faults: [Fault]
  }

  private struct State: Sendable {
    var sites: [String: Site] = [:]
    /// How often a path was asked for, where a fault counts.
    var turns: [String: Int] = [:]
  }

  private let state = Mutex(State())
  private let folder: OriginFolder?

  init(folder: OriginFolder?) {
    self.folder = folder
  }

  /// Puts something under a path, in the place of what stood there; its requests count from 1 again.
  func serve(_ site: Site, at path: String) {
    state.withLock { state in
      state.sites[path] = site
      state.turns[path] = nil
    }
  }

  func plan(for request: RecordedRequest) -> ResponsePlan {
    switch find(request.path) {
    case .success(let site): return plan(site, for: request)
    case .failure(let refusal): return Self.plainText(status: refusal.status, refusal.text)
    }
  }

  private func plan(_ site: Site, for request: RecordedRequest) -> ResponsePlan {
    let turn = turn(of: site, path: request.path)
    let faults = site.faults.compactMap { $0.active(turn: turn) }
    if request.httpVersion == "2", let fault = faults.first(where: { !$0.worksOverHTTP2 }) {
      return Self.plainText(status: 501, "\(fault) needs HTTP/1\n")
    }
    var plan = ResponsePlan(body: site.body, contentType: site.contentType)
    for fault in faults { plan.apply(fault, to: request) }
    return plan
  }

  /// A registered path as it stands; else the faults that the path names, over what is left of it.
  private func find(_ path: String) -> Result<Site, Refusal> {
    if let site = registered(path) { return .success(site) }
    do {
      let (faults, rest) = try FaultPath.parse(path)
      guard var site = registered(rest) ?? file(rest) else { return .failure(Refusal(status: 404, text: "nothing at \(rest)\n")) }
      site.faults = faults + site.faults
      return .success(site)
    } catch {
      return .failure(Refusal(status: 400, text: "\(error)\n"))
    }
  }

  private struct Refusal: Error {
    var status: Int
    var text: String
  }

  private func registered(_ path: String) -> Site? {
    state.withLock { $0.sites[path] }
  }

  private func file(_ path: String) -> Site? {
    guard let folder else { return nil }
    if path == "/" { return Site(body: ByteBuffer(string: FaultPath.help), contentType: "text/plain; charset=utf-8", faults: []) }
    return folder.read(path).map { Site(body: ByteBuffer(bytes: $0), contentType: "application/octet-stream", faults: []) }
  }

  private func turn(of site: Site, path: String) -> Int {
    guard site.faults.contains(where: \.counts) else { return 1 }
    return state.withLock { state in
      state.turns[path, default: 0] += 1
      return state.turns[path, default: 1]
    }
  }

  static func plainText(status: Int, _ text: String) -> ResponsePlan {
    ResponsePlan(status: status, body: ByteBuffer(string: text), contentType: "text/plain; charset=utf-8")
  }
}

extension Fault {
  /// Whether it depends on how many requests came before.
  fileprivate var counts: Bool {
    switch self {
    case .times, .after: true
    default: false
    }
  }
}
