internal import CAres

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

/// An address family. The raw value is the type of its DNS record (RFC 1035, 3.2.2; RFC 3596, 2.1).
package enum AddressFamily: Int32 {
  case v4 = 1
  case v6 = 28
}

/// The name servers' answer for the addresses of a name in one family.
package enum FamilyAnswer: Hashable {
  /// At least one address, and how long all of them may be cached.
  case addresses([IPAddress], lifetime: Duration)
  /// The name does not exist, or has no address of this family.
  case none
  case failure(DNSFailure)

  /// The maximum number of records in an answer, aliases included. To append a record, c-ares walks
  /// all earlier ones, on the loop: the 4,000 that fit into one message over TCP take milliseconds.
  /// Public names have a few dozen at most.
  static let maximumRecords = 256
}

extension FamilyAnswer {
  /// Converts the arguments of an ares_query(3) callback. No other code handles the c-ares status
  /// codes of an answer.
  ///
  /// - Parameter message: the whole DNS message; empty unless `status` is a success.
  init(status: Int32, message: UnsafeBufferPointer<UInt8>, family: AddressFamily) {
    self =
      switch status {
      case ARES_SUCCESS: unsafe Self.parse(message, family)
      // A name that does not fit in a query (an empty label, or one above 63 bytes) does not exist.
      case ARES_ENODATA, ARES_ENOTFOUND, ARES_EBADNAME: .none
      case ARES_ETIMEOUT, ARES_ECANCELLED: .failure(.timeout)
      default: .failure(.failed)
      }
  }
}

extension FamilyAnswer {
  private static func parse(_ message: UnsafeBufferPointer<UInt8>, _ family: AddressFamily) -> FamilyAnswer {
    // The header (RFC 1035, 4.1.1): the low half of byte 3 is the response code, bytes 6 and 7 are
    // the number of answer records.
    guard message.count >= 12, unsafe message[3] & 0x0F == 0 else { return .failure(.failed) }
    let records = unsafe Int(message[6]) << 8 | Int(message[7])
    guard records <= maximumRecords else { return .failure(.failed) }
    let (code, found) =
      switch family {
      case .v4: unsafe parseIPv4(message)
      case .v6: unsafe parseIPv6(message)
      }
    guard code == ARES_SUCCESS || code == ARES_ENODATA else { return .failure(.failed) }
    guard let shortest = found.map(\.seconds).min() else { return .none }
    // A negative time to live is a large unsigned one, and counts as zero (RFC 2181, 8).
    return .addresses(found.map(\.address), lifetime: .seconds(max(0, shortest)))
  }

  private typealias Found = [(address: IPAddress, seconds: Int32)]

  private static func parseIPv4(_ message: UnsafeBufferPointer<UInt8>) -> (code: Int32, found: Found) {
    unsafe withUnsafeTemporaryAllocation(of: ares_addrttl.self, capacity: maximumRecords) { records in
      var count = Int32(maximumRecords)
      let code = unsafe ares_parse_a_reply(message.baseAddress, Int32(message.count), nil, records.baseAddress, &count)
      guard code == ARES_SUCCESS else { return (code, []) }
      return (code, unsafe records.prefix(Int(count)).map { (.v4(UInt32(bigEndian: $0.ipaddr.s_addr)), $0.ttl) })
    }
  }

  private static func parseIPv6(_ message: UnsafeBufferPointer<UInt8>) -> (code: Int32, found: Found) {
    unsafe withUnsafeTemporaryAllocation(of: ares_addr6ttl.self, capacity: maximumRecords) { records in
      var count = Int32(maximumRecords)
      let code = unsafe ares_parse_aaaa_reply(message.baseAddress, Int32(message.count), nil, records.baseAddress, &count)
      guard code == ARES_SUCCESS else { return (code, []) }
      let found: Found = unsafe records.prefix(Int(count)).map { record in
        let bits = unsafe withUnsafeBytes(of: record.ip6addr) { unsafe UInt128(bigEndian: $0.loadUnaligned(as: UInt128.self)) }
        return (.v6(bits), record.ttl)
      }
      return (code, found)
    }
  }
}

/// A cache of the addresses of recently resolved names.
package struct AnswerCache {
  private struct Entry {
    var addresses: [IPAddress]
    var end: MonotonicInstant
  }

  /// The longest time that an answer is cached, regardless of its time to live.
  static let maximumLifetime = Duration.seconds(60)

  private let capacity: Int
  private var entries: [String: Entry] = [:]

  /// - Parameter capacity: the maximum number of names in the cache.
  package init(capacity: Int = 4096) {
    self.capacity = capacity
  }

  /// The number of names in the cache, including expired ones.
  var count: Int {
    entries.count
  }

  /// Returns the addresses of `name`, or nil when it has no entry or its entry has expired.
  package func addresses(of name: String, at now: MonotonicInstant) -> [IPAddress]? {
    guard let entry = entries[name], now < entry.end else { return nil }
    return entry.addresses
  }

  /// Caches addresses for `lifetime`, but at most for ``maximumLifetime``. Caches nothing when
  /// `lifetime` is zero. A full cache first removes the half of its entries that expires first.
  package mutating func keep(_ addresses: [IPAddress], of name: String, for lifetime: Duration, at now: MonotonicInstant) {
    guard lifetime > .zero else { return }
    if entries.count >= capacity, entries[name] == nil {
      let median = entries.values.map(\.end).sorted()[entries.count / 2]
      entries = entries.filter { $0.value.end > median }
    }
    entries[name] = Entry(addresses: addresses, end: now.advanced(by: min(lifetime, Self.maximumLifetime)))
  }
}
