internal import Attache

/// Checks that two runs of one scenario made the same decisions.
package enum AgreementCheck {
  /// - Parameters:
  ///   - real: the run on the real clock.
  ///   - virtual: the run on the virtual clock.
  package static func findings(real: RunAnalysis, virtual: RunAnalysis) -> [Finding] {
    let decisions = zip(real.accounts, virtual.accounts).compactMap { real, virtual in
      real.decision == virtual.decision
        ? nil : Finding(.disagreement, payload: real.line, "the real clock: \(real.decision); the virtual clock: \(virtual.decision)")
    }
    let (real, virtual) = (real.evidence, virtual.evidence)
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
  /// A description of the result that both clocks must agree on.
  fileprivate var decision: String {
    let attachments = attachments.map { gained in gained.size.map { "\(gained.type) of \($0) bytes" } ?? gained.type }
    return attachments.isEmpty ? verdict : "\(verdict) with \(attachments.joined(separator: ", "))"
  }
}
