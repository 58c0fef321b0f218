internal import CAres

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
