/// One look-up of a name in both families, decided without a clock or a network.
package struct DualStackLookup {
  /// What a look-up comes to.
  package struct Answer: Hashable {
    package var result: Result<[IPAddress], DNSFailure>
    /// How long the answer may be kept; zero is not at all.
    package var lifetime: Duration
  }

  /// What to do after one family has answered.
  package enum Step: Hashable {
    case wait
    /// There are addresses to go with: the other family has only a moment left.
    case waitBriefly
    case end(Answer)
  }

  private var v4: FamilyAnswer?
  private var v6: FamilyAnswer?

  package init() {}

  /// Takes the answer of one family.
  package mutating func take(_ answer: FamilyAnswer, of family: AddressFamily) -> Step {
    switch family {
    case .v4: v4 = answer
    case .v6: v6 = answer
    }
    if v4 != nil, v6 != nil { return .end(conclusion) }
    if case .addresses = answer { return .waitBriefly }
    return .wait
  }

  /// The answer from what is known now: all addresses of both families, IPv6 first as RFC 6724 has
  /// it.
  ///
  /// It may be kept only when both families have answered properly: a family that failed may be
  /// back the next time.
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
    let failure = failures.isEmpty ? DNSFailure.notFound : failures.contains(.failed) ? .failed : .timeout
    return Answer(result: .failure(failure), lifetime: .zero)
  }
}
