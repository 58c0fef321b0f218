/// Asks the gates what they say to a URL, each by itself: what one refuses does not keep the next
/// from being asked.
struct GateReport {
  private let policy: URLPolicy
  private let urlGate: URLGate

  init(_ policy: URLPolicy) {
    self.policy = policy
    urlGate = URLGate(policy)
  }

  /// What the URL gate says, then, when there is a host, the address gate. Nothing is looked up.
  func answers(to url: UntrustedText) -> [GateAnswer] {
    let authority = Self.authority(of: url)
    return [urlAnswer(url, authority)] + [authority.map { addressAnswer($0.host) }].compactMap { $0 }
  }

  private func urlAnswer(_ url: UntrustedText, _ authority: Authority?) -> GateAnswer {
    do throws(Refusal) {
      let checked = try urlGate.check(url.string)
      guard checked.portIsAllowed else {
        return .passes(.url, "the URL may be fetched if its address lies within --allow-net, for port \(checked.port)")
      }
      return .passes(.url, GateAnswer.plainPass)
    } catch {
      guard error.reason == .policyAddress else { return .refuses(.url, error.reason, error.message) }
      // The gate asked for the address before the port; the address has an answer of its own.
      if let port = authority?.port, !policy.allows(port: port) {
        let refusal = URLGate.portRefusal(port)
        return .refuses(.url, refusal.reason, refusal.message)
      }
      return .passes(.url, "the URL may be fetched, but for its address")
    }
  }

  private func addressAnswer(_ host: Authority.Host) -> GateAnswer {
    guard case .address(let address) = host else {
      let text = policy.proxy == nil ? "asked when \(host.text) is looked up" : "left to the proxy, which looks \(host.text) up"
      return GateAnswer(gate: .address, text: text)
    }
    do throws(Refusal) {
      try urlGate.addressGate.check(address)
      return .passes(.address, "\(address) may be reached")
    } catch {
      return .refuses(.address, error.reason, error.message)
    }
  }

  /// Where a URL leads, if that can be read.
  private static func authority(of url: UntrustedText) -> Authority? {
    let bytes = Array(url.utf8.prefix(URLGate.maximumBytes))
    guard let authority = URLReference(bytes[...]).authority, !authority.isEmpty, authority.count <= URLGate.maximumAuthorityBytes else {
      return nil
    }
    return try? Authority(authority)
  }
}
