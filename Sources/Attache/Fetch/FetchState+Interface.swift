extension FetchState {
  /// What the fetch waits for.
  enum Phase: Equatable {
    /// The start: at first, and before a retry.
    case pausing
    /// The index's result for the hop.
    case lookingUp
    case resolving
    /// The check whether the file of a fresh entry still exists.
    case confirming
    /// A place at the origin.
    case waiting
    case transferring
    /// The check whether the store still has the file that a 304 says is unchanged.
    case revalidating
    /// The stored file, after all its bytes have arrived.
    case storing
    /// The file that a converter makes of the picture whose bytes have arrived.
    case converting
    case over
  }

  /// An input of the state machine.
  enum Event {
    case begun
    case lookedUp(HTTPCache.LookupResult)
    case resolved(Result<[IPAddress], DNSFailure>)
    case confirmed(Bool)
    case placeGranted
    /// The head of a response.
    ///
    /// - Parameter at: when it arrived, by the wall clock; nil if there is no index.
    case head(ResponseHead, at: Duration?)
    /// This many bytes of the body, during a transfer.
    case body(Int)
    /// The type of the bytes. The detector may report it between two attempts, too.
    case recognised(MediaType)
    /// The bytes are refused, during a transfer.
    case refused(FetchFailure)
    case ended(TransferEnd)
    /// The file is in the store.
    case stored(StoredFile)
    /// The file is complete, and a picture that must be converted.
    case completed
    case failed(FetchFailure)
  }

  /// What the caller must do.
  enum Action: Equatable {
    /// Wait for the next event.
    case none
    case lookUp
    case resolve(host: String)
    case confirm(StoredFile)
    /// Wait for a place at the origin.
    case enter
    /// Send the request.
    case transfer
    /// Continue the transfer, or stop it.
    case proceed, stop
    /// Finish the file, all of whose bytes have arrived.
    case finish
    /// Convert the picture that is complete.
    case convert
    /// Retry after a pause if the budget allows it, otherwise fail.
    case pause(after: FetchFailure, asked: Duration?)
    /// Hand out the file that has been fetched.
    case handOut(StoredFile)
    /// Hand out a file that was in the store already.
    case serve(CacheEntry, as: MediaRecord.Cache)
    case fail(FetchFailure)
  }
}

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
