/// Combines the answers of both families for one name. Uses no clock and no network.
package struct DualStackLookup {
  /// The result of a lookup.
  package struct Answer: Hashable {
    package var result: Result<[IPAddress], DNSFailure>
    /// How long the answer may be cached. Zero means that it must not be cached.
    package var lifetime: Duration
  }

  /// What to do after one family has answered.
  package enum Step: Hashable {
    case wait
    /// There are addresses to use. Wait for the other family only briefly.
    case waitBriefly
    case end(Answer)
  }

  private var v4: FamilyAnswer?
  private var v6: FamilyAnswer?

  package init() {}

  /// Records the answer of one family and returns the next step.
  package mutating func take(_ answer: FamilyAnswer, of family: AddressFamily) -> Step {
    switch family {
    case .v4: v4 = answer
    case .v6: v6 = answer
    }
    if v4 != nil, v6 != nil { return .end(conclusion) }
    if case .addresses = answer { return .waitBriefly }
    return .wait
  }

  /// The answer from what is known now: all addresses of both families, IPv6 first (RFC 6724).
  ///
  /// It may be cached only when both families have answered without a failure. A failed family may
  /// work the next time.
  package var conclusion: Answer {
    var addresses: [IPAddress] = []
    var lifetime = Duration.seconds(Int64.max)
    var failures: [DNSFailure] = []
    for answer in [v6, v4] {
      switch answer {
      case .addresses(let found, let itsLifetime):
        addresses += found
        lifetime = min(lifetime, itsLifetime)
      case .none?: break
      case .failure(let failure): failures.append(failure)
      case nil: failures.append(.timeout)
      }
    }
    if !addresses.isEmpty { return Answer(result: .success(addresses), lifetime: failures.isEmpty ? lifetime : .zero) }
    let failure = failures.isEmpty ? .notFound : failures.first { $0.isOfMachine } ?? (failures.contains(.failed) ? .failed : .timeout)
    return Answer(result: .failure(failure), lifetime: .zero)
  }
}

extension DNSFailure {
  fileprivate var isOfMachine: Bool {
    if case .refused = self { true } else { false }
  }
}
