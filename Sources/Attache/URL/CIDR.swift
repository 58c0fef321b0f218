/// A network: the addresses that share a prefix, as in `127.0.0.0/8` or `fd00::/8`.
public struct CIDR: Hashable, Sendable {
  /// The first address of the network.
  public let address: IPAddress
  /// The number of leading bits that the addresses share: 0…32 for IPv4, 0…128 for IPv6.
  public let prefixLength: Int

  /// Parses `address/length`. An address without a length is the network of that one address.
  ///
  /// - Throws: ``CIDRError`` when the address or the length is malformed, or when bits beyond the
  ///   prefix are set.
  public init(_ text: String) throws(CIDRError) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let address = IPAddress(String(parts[0])) else { throw .address(String(parts[0])) }
    var length = address.bitWidth
    if parts.count == 2 {
      guard let written = IPAddress.decimal(Array(parts[1].utf8)[...], maximum: length) else {
        throw .length(String(parts[1]), maximum: length)
      }
      length = written
    }
    self.init(containing: address, prefixLength: length)
    if self.address != address { throw .hostBits(text, meant: self) }
  }

  /// Makes the network of `prefixLength` bits that contains `address`.
  package init(containing address: IPAddress, prefixLength: Int) {
    self.address = address.masked(to: prefixLength)
    self.prefixLength = prefixLength
  }

  /// Returns whether the network contains the address. An IPv6 network contains no IPv4 address,
  /// and an IPv4 network no IPv6 address.
  public func contains(_ address: IPAddress) -> Bool {
    address.bitWidth == self.address.bitWidth && address.masked(to: prefixLength) == self.address
  }
}

extension CIDR: CustomStringConvertible {
  /// The canonical text: `address/length`.
  public var description: String { "\(address)/\(prefixLength)" }
}

/// The reason why a text is not a network. `description` is a message for the user.
public enum CIDRError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The text before the slash is not an address.
  case address(String)
  /// The text after the slash is not a number up to the maximum.
  case length(String, maximum: Int)
  /// Bits beyond the prefix are set. `meant` is the network that the prefix names.
  case hostBits(String, meant: CIDR)

  public var description: String {
    switch self {
    case .address(let text): "'\(text)' is not an IPv4 or IPv6 address"
    case .length(let text, let maximum): "'\(text)' is not a prefix length; it must be from 0 to \(maximum)"
    case .hostBits(let text, let meant): "'\(text)' has bits set beyond its prefix; write \(meant) for the network"
    }
  }
}

extension IPAddress {
  fileprivate var bitWidth: Int {
    switch self {
    case .v4: 32
    case .v6: 128
    }
  }

  fileprivate func masked(to length: Int) -> IPAddress {
    switch self {
    case .v4(let bits): .v4(bits & UInt32.max << (32 - length))
    case .v6(let bits): .v6(bits & UInt128.max << (128 - length))
    }
  }
}
