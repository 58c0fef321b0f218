internal import Glibc

@testable import Attache

/// Addresses, as numbers and as text, to the address gate, the parser and printer of addresses and
/// the parser of networks.
///
/// - Without flags the gate passes nothing that ``ShutRanges`` shuts, and shuts little else; with
///   every network allowed it still passes no metadata address, in none of the forms that embed
///   one.
/// - The parser takes what `inet_pton` takes and means the same; the printer writes what
///   `inet_ntop` writes; each undoes the other.
/// - A network holds an address exactly when the first bits are the same.
struct AddressesTarget: Target {
  private let shut = AddressGate()
  private let open = AddressGate(allowedNets: ["0.0.0.0/0", "::/0"].compactMap { try? CIDR($0) })

  func run(_ input: [UInt8]) {
    var input = InputBytes(input)
    switch input.number(below: 4) {
    case 0: judge(input.number(UInt32.self))
    case 1: judge(input.number(UInt128.self))
    case 2: judgeText(Array(input.rest))
    default: judgeNetwork(&input)
    }
  }

  // MARK: The gate

  private func judge(_ bits: UInt32) {
    let address = IPAddress.v4(bits)
    if ShutRanges.isShut(bits) {
      check(!passes(address), "\(address) is shut")
    } else if !ShutRanges.further.contains(where: { $0.contains(bits) }) {
      check(passes(address), "\(address) is public")
    }
    judgeMetadata(.v4(bits), is: ShutRanges.metadata.contains(bits))
    for bits in ShutRanges.carrying(bits, network: 0x2A00_1450_4001_0831) {
      check(!passes(.v6(bits)), "\(IPAddress.v6(bits)) embeds an IPv4 address and is shut")
    }
    for inner in ShutRanges.metadata {
      for carrier in ShutRanges.carrying(inner, network: UInt64(bits) << 32 | 0x2000_0000_0000_0000) {
        judgeMetadata(.v6(carrier), is: true)
      }
    }
    judgeWriting(address)
  }

  private func judge(_ bits: UInt128) {
    let address = IPAddress.v6(bits)
    if ShutRanges.isShut(bits) {
      check(!passes(address), "\(address) is shut")
    } else if !ShutRanges.furtherV6.contains(where: { $0.contains(bits) }), !isOfNAT64Form(bits) {
      check(passes(address), "\(address) is public")
    }
    judgeMetadata(address, is: bits == ShutRanges.metadataV6)
    judgeWriting(address)
  }

  /// Whether the last bits may be an address of the inner network, behind a prefix of 96 bits (RFC
  /// 6052).
  private func isOfNAT64Form(_ bits: UInt128) -> Bool {
    bits >> 56 & 0xFF == 0 && ShutRanges.isShut(UInt32(truncatingIfNeeded: bits))
  }

  private func judgeMetadata(_ address: IPAddress, is metadata: Bool) {
    if metadata { check((try? open.check(address)) == nil, "\(address) is metadata, which nothing opens") }
  }

  private func passes(_ address: IPAddress) -> Bool {
    do throws(Refusal) {
      try shut.check(address)
      return true
    } catch {
      check(error.reason == .policyAddress && error.message.utf8.count < 500, "a refusal says why: \(error.message)")
      return false
    }
  }

  // MARK: Text

  private func judgeWriting(_ address: IPAddress) {
    check(IPAddress(address.description) == address, "\(address) is read as it is written")
    let written = systemText(address)
    // The system writes ::/96 with a dotted quad at its end, which RFC 5952 does not ask for.
    if case .v6(let bits) = address, bits >> 32 == 0 { return }
    check(address.description == written, "\(address) is written as the system does: \(written)")
  }

  private func judgeText(_ bytes: [UInt8]) {
    guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) else { return }
    check(IPAddress(text) == systemAddress(text), "\(quoted(bytes)) is read as the system does")
    guard let network = try? CIDR(text) else { return }
    check((try? CIDR("\(network)")) == network, "\(network) is read as it is written")
    check(network.contains(network.address), "\(network) holds its first address")
  }

  private func judgeNetwork(_ input: inout InputBytes) {
    let length = input.number(below: 129)
    let (one, other) = (input.number(UInt128.self), input.number(UInt128.self))
    let same = one & prefix(length) | other & ~prefix(length)
    for candidate in [one, other, same] {
      let isInside = length == 0 || (one ^ candidate) >> (128 - length) == 0
      check(CIDR(containing: .v6(one), prefixLength: length).contains(.v6(candidate)) == isInside, "the first \(length) bits decide")
    }
    let short = length % 33
    let (v4, otherV4) = (UInt32(truncatingIfNeeded: one), UInt32(truncatingIfNeeded: other))
    let network = CIDR(containing: .v4(v4), prefixLength: short)
    check(network.contains(.v4(otherV4)) == (short == 0 || (v4 ^ otherV4) >> (32 - short) == 0), "the first \(short) bits decide")
    check(!network.contains(.v6(UInt128(v4))), "an IPv6 address lies in no IPv4 network")
  }

  private func prefix(_ length: Int) -> UInt128 {
    length == 0 ? 0 : UInt128.max << (128 - length)
  }

  // MARK: The system

  private func systemText(_ address: IPAddress) -> String {
    var text = [CChar](repeating: 0, count: 64)
    switch address {
    case .v4(let bits):
      var bits = bits.bigEndian
      _ = unsafe inet_ntop(AF_INET, &bits, &text, 64)
    case .v6(let bits):
      var bits = bits.bigEndian
      _ = unsafe inet_ntop(AF_INET6, &bits, &text, 64)
    }
    return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  private func systemAddress(_ text: String) -> IPAddress? {
    var v4: UInt32 = 0
    if unsafe inet_pton(AF_INET, text, &v4) == 1 { return .v4(UInt32(bigEndian: v4)) }
    var v6: UInt128 = 0
    return unsafe inet_pton(AF_INET6, text, &v6) == 1 ? .v6(UInt128(bigEndian: v6)) : nil
  }
}
