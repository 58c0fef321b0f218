internal import Attache
internal import CLinux
internal import Glibc
internal import Synchronization

/// Detects each destination that is contacted in a scenario's own network: the first packet of each
/// TCP connection and each datagram, to any address.
///
/// It listens on loopback with a packet socket (packet(7)). A filter discards all other packets.
final class ConnectionCanary: Sendable {
  /// The destination of a packet.
  struct Attempt: Hashable, CustomStringConvertible {
    var isTCP: Bool
    var source: UInt16
    var address: IPAddress
    var port: UInt16

    var description: String {
      let host = if case .v6 = address { "[\(address)]" } else { "\(address)" }
      return "\(isTCP ? "TCP" : "UDP") \(host):\(port)"
    }
  }

  private let descriptor: Int32
  private let server: UInt16
  private let ignored: Set<Attempt>
  private let seen = Mutex<(order: [Attempt], all: Set<Attempt>)>(([], []))

  /// Listens on the calling thread's network.
  ///
  /// - Parameters:
  ///   - server: the name server's port on 127.0.0.1. Packets to and from it do not count.
  ///   - ignored: connections that do not belong to the filter.
  init(server: UInt16, ignored: Set<Attempt>) throws(StageError) {
    (self.server, self.ignored) = (server, ignored)
    // Every protocol (ETH_P_ALL), in network byte order.
    descriptor = socket(AF_PACKET, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), Int32(UInt16(3).bigEndian))
    guard descriptor >= 0 else { throw .system(call: "socket", errno: errno) }
    var size: Int32 = 32 << 20
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, &size, socklen_t(MemoryLayout<Int32>.size))
    var filter = Self.filter
    let result = unsafe filter.withUnsafeMutableBufferPointer { filter in
      var program = unsafe sock_fprog(len: UInt16(filter.count), filter: filter.baseAddress)
      return unsafe setsockopt(descriptor, SOL_SOCKET, SO_ATTACH_FILTER, &program, socklen_t(MemoryLayout<sock_fprog>.size))
    }
    guard result == 0 else { throw .system(call: "setsockopt", errno: errno) }
  }

  deinit {
    close(descriptor)
  }

  /// The attempts so far. A retransmitted packet is the same attempt.
  var attempts: [Attempt] {
    seen.withLock { seen in
      var packet = [UInt8](repeating: 0, count: Self.length)
      while true {
        let count = unsafe recv(descriptor, &packet, packet.count, 0)
        guard count > 0 else { return seen.order }
        guard let attempt = Attempt(packet[..<count]), counts(attempt) else { continue }
        if seen.all.insert(attempt).inserted { seen.order.append(attempt) }
      }
    }
  }

  private func counts(_ attempt: Attempt) -> Bool {
    if attempt.address == .v4(0x7F00_0001), attempt.port == server { return false }
    return !ignored.contains(attempt) && (attempt.isTCP || attempt.source != server)
  }

  /// The length of both headers of any relevant packet, in bytes.
  private static let length = 96

  /// A classic BPF program that accepts outgoing packets that are UDP, or TCP with SYN and without
  /// ACK.
  private static let filter: [sock_filter] = [
    // The packet type: 4 is PACKET_OUTGOING. On loopback, each packet appears a second time as
    // incoming.
    instruction(0x28, 0xFFFF_F004), instruction(0x15, 4, else: 16),
    // The IP version, in the upper half of the first byte.
    instruction(0x30, 0), instruction(0x74, 4), instruction(0x15, 4, else: 6),
    // IPv4: the protocol, then the TCP flags, 13 bytes after a header of variable length.
    instruction(0x30, 9), instruction(0x15, 17, then: 10), instruction(0x15, 6, else: 10),
    instruction(0xB1, 0), instruction(0x50, 13), instruction(0x05, 4),
    // IPv6: the same, without extension headers.
    instruction(0x30, 6), instruction(0x15, 17, then: 4), instruction(0x15, 6, else: 4), instruction(0x30, 53),
    // SYN without ACK.
    instruction(0x54, 0x12), instruction(0x15, 0x02, else: 1),
    instruction(0x06, UInt32(length)), instruction(0x06, 0),
  ]

  private static func instruction(_ code: UInt16, _ value: UInt32, then: UInt8 = 0, else other: UInt8 = 0) -> sock_filter {
    sock_filter(code: code, jt: then, jf: other, k: value)
  }
}

extension ConnectionCanary.Attempt {
  /// Parses the two headers of a packet.
  fileprivate init?(_ packet: ArraySlice<UInt8>) {
    let bytes = Array(packet)
    guard let first = bytes.first, bytes.count >= (first >> 4 == 4 ? 24 : 44) else { return nil }
    let isIPv4 = first >> 4 == 4
    let start = isIPv4 ? Int(first & 0x0F) * 4 : 40
    guard bytes.count >= start + 4 else { return nil }
    func number(_ range: Range<Int>) -> UInt128 { bytes[range].reduce(0) { $0 << 8 | UInt128($1) } }
    isTCP = bytes[isIPv4 ? 9 : 6] == 6
    source = UInt16(number(start..<start + 2))
    port = UInt16(number(start + 2..<start + 4))
    address = isIPv4 ? .v4(UInt32(number(16..<20))) : .v6(number(24..<40))
  }
}
