package import Attache
internal import AttacheTesting
internal import CTripwire

/// Makes the test process fail when it connects to an address that the gate has not allowed
/// (CTripwire.h).
package enum Tripwire {
  /// Whether the tripwire is active. It is not under the sanitizers.
  package static var isArmed: Bool { tripwire_is_armed() }

  /// Allows an address for a test that makes a connection itself.
  package static func pass(_ address: IPAddress, port: UInt16) {
    let bits: UInt128 =
      switch address {
      case .v4(let bits): 0xFFFF_0000_0000 | UInt128(bits)
      case .v6(let bits): bits
      }
    unsafe withUnsafeBytes(of: bits.bigEndian) { unsafe tripwire_pass($0.baseAddress?.assumingMemoryBound(to: UInt8.self), port) }
  }
}

/// Called when the process starts: allows the addresses that fetchers are about to connect to,
/// since they have passed the gate.
@_cdecl("tripwire_install")
func install() {
  TransferWatch.notify { addresses, port in
    for address in addresses { Tripwire.pass(address, port: port) }
  }
}
