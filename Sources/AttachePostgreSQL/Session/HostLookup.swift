internal import Attache
internal import Glibc
internal import Synchronization

/// Looks up the addresses of hosts, within a limit.
///
/// getaddrinfo(3), which libpq calls, has no limit. So each host is looked up on a thread of its own,
/// and callers that need the same host wait for the same thread. When the resolver is late or fails,
/// the addresses that it gave before are used.
package final class HostLookup: Sendable {
  /// The addresses of a host in the order to try, or why there are none.
  package typealias Answer = Result<[String], Failure>

  package struct Failure: Error {
    let text: String

    package init(_ text: String) { self.text = text }
  }

  /// The system's resolver, with `/etc/hosts` and all that nsswitch.conf(5) names.
  static let system = HostLookup(resolve: HostLookup.resolve)

  private let resolve: @Sendable (String) -> Answer
  private let state = Mutex(State())

  private struct State {
    /// The callers that wait, by host.
    var waiters: [String: [Waiter]] = [:]
    /// The last addresses of each host.
    var known: [String: [String]] = [:]
  }

  /// How long to wait for the resolver when earlier addresses are known.
  private static let knownLimit = Duration.seconds(1)

  /// - Parameter resolve: looks up a host. It may take any time.
  package init(resolve: @escaping @Sendable (String) -> Answer) {
    self.resolve = resolve
  }

  private final class Waiter: Sendable {
    let answer = Mutex<Answer?>(nil)
    let signal: EventFD

    init() throws(SystemError) { signal = try EventFD() }
  }

  /// Returns the addresses of a host in the order to try.
  ///
  /// - Returns: the addresses of an earlier lookup when this one fails, or does not answer within a
  ///   second; a failure when there was none.
  package func addresses(of host: String, within limit: Duration) -> Answer {
    let waiter: Waiter
    do throws(SystemError) { waiter = try Waiter() } catch { return .failure(Failure("\(error)")) }
    begin(host, waiter)
    let known = state.withLock { $0.known[host] }
    let end = MonotonicInstant.now.advanced(by: known == nil ? limit : min(limit, Self.knownLimit))
    // A wait may end early.
    while waiter.answer.withLock({ $0 == nil }), MonotonicInstant.now < end { waiter.signal.wait(until: end) }
    state.withLock { $0.waiters[host]?.removeAll { $0 === waiter } }
    let answer = waiter.answer.withLock(\.self) ?? .failure(Failure("the resolver did not answer within \(limit.text)"))
    if case .failure = answer, let known { return .success(known) }
    return answer
  }

  /// Begins to look a host up, unless this goes on.
  func begin(_ host: String) { begin(host, nil) }

  /// - Parameter waiter: gets the answer.
  private func begin(_ host: String, _ waiter: Waiter?) {
    let isFirst = state.withLock { state in
      defer { state.waiters[host, default: []] += [waiter].compactMap(\.self) }
      return state.waiters[host] == nil
    }
    guard isFirst else { return }
    do throws(SystemError) {
      try Thread.start("lookup") { [self] in answer(host, resolve(host)) }.detach()
    } catch {
      answer(host, .failure(Failure("\(error)")))
    }
  }

  private func answer(_ host: String, _ answer: Answer) {
    let waiters = state.withLock { state in
      if case .success(let addresses) = answer { state.known[host] = addresses }
      return state.waiters.removeValue(forKey: host) ?? []
    }
    for waiter in waiters {
      waiter.answer.withLock { $0 = answer }
      waiter.signal.ring()
    }
  }

  private static func resolve(_ host: String) -> Answer {
    var hints = unsafe addrinfo()
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var first: UnsafeMutablePointer<addrinfo>?
    let code = unsafe getaddrinfo(host, nil, &hints, &first)
    guard code == 0 else { return .failure(Failure(unsafe String(cString: gai_strerror(code)))) }
    defer { unsafe freeaddrinfo(first) }
    var addresses: [String] = []
    var next = unsafe first
    while let entry = unsafe next {
      var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
      let code = unsafe getnameinfo(
        entry.pointee.ai_addr, entry.pointee.ai_addrlen, &text, socklen_t(text.count), nil, 0, Int32(NI_NUMERICHOST))
      let address = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      if code == 0, !addresses.contains(address) { addresses.append(address) }
      unsafe next = entry.pointee.ai_next
    }
    return addresses.isEmpty ? .failure(Failure("the host has no address")) : .success(addresses)
  }
}
