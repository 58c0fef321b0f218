internal import Attache

/// Checks a URL with each gate separately. A refusal by one gate does not skip the next.
struct GateReport {
  private let policy: URLPolicy
  private let urlGate: URLGate

  init(_ policy: URLPolicy) {
    self.policy = policy
    urlGate = URLGate(policy)
  }

  /// Returns the answer of the URL gate and, if the URL has a host, of the address gate. No name is
  /// looked up.
  func answers(to url: UntrustedText) -> [GateAnswer] {
    let authority = Self.authority(of: url)
    return [urlAnswer(url, authority)] + [authority.map { addressAnswer($0.host) }].compactMap { $0 }
  }

  private func urlAnswer(_ url: UntrustedText, _ authority: Authority?) -> GateAnswer {
    do throws(Refusal) {
      let checked = try urlGate.check(url.string)
      guard checked.portIsAllowed else {
        return .passes(.url, "the URL may be fetched only if its address is within --allow-net, because of its port \(checked.port)")
      }
      return .passes(.url, GateAnswer.plainPass)
    } catch {
      guard error.reason == .policyAddress else { return .refuses(.url, error.reason, error.message) }
      // The gate checks the address before the port, and the address has its own answer. Check the
      // port here.
      if let port = authority?.port, !policy.allows(port: port) {
        let refusal = URLGate.portRefusal(port)
        return .refuses(.url, refusal.reason, refusal.message)
      }
      return .passes(.url, "the URL may be fetched, but for its address")
    }
  }

  private func addressAnswer(_ host: Authority.Host) -> GateAnswer {
    guard case .address(let address) = host else {
      let text =
        policy.proxy == nil
        ? "the address is checked after \(host.text) is looked up" : "the proxy looks up \(host.text), so attache checks no address"
      return GateAnswer(gate: .address, text: text)
    }
    do throws(Refusal) {
      try urlGate.addressGate.check(address)
      return .passes(.address, "\(address) may be reached")
    } catch {
      return .refuses(.address, error.reason, error.message)
    }
  }

  /// Returns the authority of a URL, if it can be parsed.
  private static func authority(of url: UntrustedText) -> Authority? {
    let bytes = Array(url.utf8.prefix(URLGate.maximumBytes))
    guard let authority = URLReference(bytes[...]).authority, !authority.isEmpty, authority.count <= URLGate.maximumAuthorityBytes else {
      return nil
    }
    return try? Authority(authority)
  }
}
