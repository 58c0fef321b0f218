internal import Glibc

/// Configures the network of the calling thread through rtnetlink(7).
struct RouteSocket: ~Copyable {
  /// The loopback interface, which is the first in every network.
  private static let loopback: UInt32 = 1

  private let descriptor: Int32

  init() throws(StageError) {
    descriptor = socket(AF_NETLINK, Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw .system(call: "socket", errno: errno) }
  }

  deinit {
    close(descriptor)
  }

  /// Brings loopback up and makes every address local, like `ip route add local default dev lo`.
  func open(hasIPv6: Bool) throws(StageError) {
    let (newLink, newRoute): (UInt16, UInt16) = (16, 24)
    // struct ifinfomsg: any family, any type, the interface, IFF_UP, and a mask that changes only
    // that bit.
    try request(newLink, Message().add(UInt32(0)).add(Self.loopback).add(UInt32(1)).add(UInt32(1)))
    for family in [AF_INET] + (hasIPv6 ? [AF_INET6] : []) {
      // struct rtmsg: to all, from all, no type of service; the local table, static, host scope, a
      // local route.
      let route = [UInt8(family), 0, 0, 0, 255, 4, 254, 2].reduce(Message()) { $0.add($1) }.add(UInt32(0))
      // RTA_OIF: the interface.
      try request(newRoute, route.add(UInt16(8)).add(UInt16(4)).add(Self.loopback))
    }
  }

  /// The body of a request, in the machine's byte order.
  private struct Message {
    var bytes: [UInt8] = []

    func add(_ number: some FixedWidthInteger) -> Message {
      var message = self
      unsafe withUnsafeBytes(of: number) { unsafe message.bytes.append(contentsOf: $0) }
      return message
    }
  }

  private func request(_ kind: UInt16, _ body: Message) throws(StageError) {
    // NLM_F_REQUEST, NLM_F_ACK, NLM_F_EXCL, NLM_F_CREATE
    let flags: UInt16 = kind == 16 ? 0x5 : 0x605
    let length = UInt32(16 + body.bytes.count)
    let message = Message().add(length).add(kind).add(flags).add(UInt32(1)).add(UInt32(0)).bytes + body.bytes
    guard unsafe send(descriptor, message, message.count, 0) == message.count else { throw .system(call: "netlink", errno: errno) }
    var answer = [UInt8](repeating: 0, count: 1024)
    let count = unsafe recv(descriptor, &answer, answer.count, 0)
    // struct nlmsgerr follows the header: a negative errno, or 0.
    guard count >= 20 else { throw .system(call: "netlink", errno: count < 0 ? errno : EBADMSG) }
    let code = answer[16..<20].enumerated().reduce(Int32(0)) { $0 | Int32(truncatingIfNeeded: UInt32($1.element) << (8 * $1.offset)) }
    guard code == 0 else { throw .system(call: "netlink", errno: -code) }
  }
}
