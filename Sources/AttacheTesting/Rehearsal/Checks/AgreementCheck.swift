internal import Attache

/// Whether two runs of one scenario decided alike.
package enum AgreementCheck {
  /// - Parameters:
  ///   - real: what the run on the real clock left.
  ///   - virtual: what the run on the virtual one left.
  package static func findings(real: Evidence, virtual: Evidence) -> [Finding] {
    let accounts = zip(PayloadAccount.all(in: real), PayloadAccount.all(in: virtual))
    let decisions = accounts.compactMap { real, virtual in
      real.decision == virtual.decision
        ? nil : Finding(.disagreement, payload: real.line, "the real clock: \(real.decision); the virtual clock: \(virtual.decision)")
    }
    let paths = Set(real.requests.keys).union(virtual.requests.keys).sorted()
    let requests = paths.compactMap { path in
      let (realCount, virtualCount) = (real.requests[path, default: 0], virtual.requests[path, default: 0])
      return realCount == virtualCount
        ? nil : Finding(.disagreement, "requests for \(path): \(realCount) on the real clock, \(virtualCount) on the virtual one")
    }
    return (decisions + requests).abridged
  }
}

extension PayloadAccount {
  /// What both clocks must agree on, in words.
  fileprivate var decision: String {
    let attachments = attachments.map { "\($0.type) of \($0.size) bytes" }
    return attachments.isEmpty ? verdict : "\(verdict) with \(attachments.joined(separator: ", "))"
  }
}
