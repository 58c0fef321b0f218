import AttacheTesting
import Glibc
import Testing
import Tripwire

@testable import Attache

/// The tripwire ends a process that connects to an address that no gate has allowed.
@Suite(.enabled(if: Tripwire.isArmed, "the sanitizers have these calls"), .timeLimit(.minutes(1)))
struct TripwireTests {
  @Test func `a connect to an address that no gate has passed ends the process`() async {
    await #expect(processExitsWith: .signal(SIGABRT)) { _ = Self.reach(.v4(0x0A00_0001), 6379, by: SOCK_STREAM) }
  }

  @Test func `so does a datagram`() async {
    await #expect(processExitsWith: .signal(SIGABRT)) { _ = Self.reach(.v4(0x0808_0808), 53, by: SOCK_DGRAM) }
  }

  @Test func `so does a fetcher whose gate nobody listens to`() async {
    await #expect(processExitsWith: .signal(SIGABRT)) {
      let folder = AttachmentStoreTestFolder()
      let store = try AttachmentStore(directory: folder[""], maximumBytes: 1_000_000, maximumAge: .seconds(60))
      var configuration = FetchConfiguration()
      configuration.policy = URLPolicy(allowHTTP: true, allowedNets: [try CIDR("127.0.0.1")])
      let fetcher = try MediaFetcher(configuration, store: store)
      await withCheckedContinuation { continuation in
        _ = fetcher.fetch("http://127.0.0.1:9/", deadline: .now.advanced(by: .seconds(20))) { _, _ in continuation.resume() }
      }
    }
  }

  @Test func `what a gate has passed is let through`() {
    let address = IPAddress.v4(0xF000_0001)
    Tripwire.pass(address, port: 6379)
    #expect(Self.reach(address, 6379, by: SOCK_STREAM) != 0)
  }

  /// Connects, or sends a datagram, from a socket that is bound to loopback, from which the kernel
  /// sends nothing elsewhere.
  private static func reach(_ address: IPAddress, _ port: UInt16, by type: __socket_type) -> Int32 {
    guard case .v4(let bits) = address else { return -1 }
    let descriptor = socket(AF_INET, Int32(type.rawValue), 0)
    defer { close(descriptor) }
    func name(_ bits: UInt32, _ port: UInt16) -> sockaddr_in {
      var name = sockaddr_in()
      (name.sin_family, name.sin_port) = (sa_family_t(AF_INET), port.bigEndian)
      name.sin_addr.s_addr = bits.bigEndian
      return name
    }
    var (own, other) = (name(0x7F00_0001, 0), name(bits, port))
    let length = socklen_t(MemoryLayout<sockaddr_in>.size)
    func with(_ name: inout sockaddr_in, _ call: (UnsafePointer<sockaddr>) -> Int32) -> Int32 {
      unsafe withUnsafePointer(to: &name) { unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe call($0) } }
    }
    guard unsafe with(&own, { unsafe bind(descriptor, $0, length) }) == 0 else { return -1 }
    if type == SOCK_DGRAM { return unsafe with(&other) { unsafe Int32(sendto(descriptor, "x", 1, 0, $0, length)) } }
    return unsafe with(&other) { unsafe connect(descriptor, $0, length) }
  }
}
