/// What a fetch and its transfer ask of the state.
extension FetchState {
  var isOver: Bool { phase == .over }
  var isRedirected: Bool { visited.count > 1 }
  /// Whether a complete head has arrived in the latest exchange.
  var hasHead: Bool { verdict != nil }

  /// Whether the connection ended within a body that is wanted.
  func isCutOff(by end: TransferEnd) -> Bool {
    guard case .body = verdict, failure == nil, end.localError == nil else { return false }
    return switch end.failure {
    case .httpTruncated, .connectReset: true
    case nil: length.map { $0 > received } ?? false
    default: false
    }
  }

  /// Returns how many bytes are still to come, including these; only these if the length is
  /// unknown. A chunked partial response may contain more than its length says.
  func expected(with count: Int) -> Int {
    length.map { max(0, $0 - received) } ?? count
  }

  /// The addresses, starting with another one at each attempt: libcurl 7.88 spends the entire
  /// connection time on the first address of a family if that address drops packets.
  var addressesInTurn: [IPAddress] {
    let turn = (tries - 1) % max(1, addresses.count)
    return Array(addresses[turn...] + addresses[..<turn])
  }

  /// Where the body can be resumed. This requires a strong validator and an origin that does not
  /// decline ranges (RFC 9110, 13.1.5).
  var resumption: (offset: Int, validator: String)? {
    guard received > 0, let entityTag, entityTag.hasPrefix("\"") else { return nil }
    return (received, entityTag)
  }

  /// The header lines of a conditional request. Empty for a partial request.
  var conditions: [String] { resumption == nil ? reuse.conditions : [] }

  /// Which gates the URL has passed: all of them if the host is not resolved or its addresses are
  /// not checked.
  var clearance: HTTPCache.Clearance {
    if url.address != nil || rules.proxy != nil { return .full }
    return url.portIsAllowed ? .ofPublic : .withheld
  }

  /// Whether the host was looked up, without a proxy, and all its addresses are public.
  var isPublic: Bool {
    url.address == nil && rules.proxy == nil && addresses.allSatisfy(AddressGate.isPublic)
  }
}
