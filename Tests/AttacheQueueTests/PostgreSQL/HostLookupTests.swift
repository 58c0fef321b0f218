import Attache
import AttachePostgreSQL
import AttacheQueue
import Glibc
import Synchronization
import Testing

/// Lookups of a server's host, and the choice among its addresses.
@Suite(.timeLimit(.minutes(1))) struct HostLookupTests {
  @Test func `a resolver that does not answer ends a lookup at its limit`() throws {
    let held = try EventFD()
    defer { held.ring() }
    let lookup = HostLookup { _ in
      held.wait(until: nil)
      return .success(["127.0.0.1"])
    }
    let answer = lookup.addresses(of: "db.test", within: .milliseconds(50))
    #expect(throws: HostLookup.Failure.self) { try answer.get() }
    #expect("\(answer)".contains("did not answer within 50 ms"), "\(answer)")
  }

  @Test func `a host is looked up once at a time`() throws {
    let (begun, held) = (try EventFD(), try EventFD())
    let count = Mutex(0)
    let lookup = HostLookup { host in
      count.withLock { $0 += 1 }
      begun.ring()
      held.wait(until: nil)
      held.ring()
      return .success([host])
    }
    #expect(throws: HostLookup.Failure.self) { try lookup.addresses(of: "a.test", within: .zero).get() }
    begun.wait(until: nil)
    #expect(throws: HostLookup.Failure.self) { try lookup.addresses(of: "a.test", within: .zero).get() }
    #expect(count.withLock(\.self) == 1)
    let answer = Mutex<HostLookup.Answer?>(nil)
    let thread = try Attache.Thread.start("waiter") { answer.withLock { $0 = lookup.addresses(of: "a.test", within: .seconds(60)) } }
    held.ring()
    thread.join()
    #expect(try answer.withLock(\.self)?.get() == ["a.test"])
  }

  @Test func `an answer shortly before the limit is taken`() throws {
    let never = try EventFD()
    let lookup = HostLookup { host in
      // A wait of an event ends early, so several are needed.
      let end = MonotonicInstant.now.advanced(by: .milliseconds(1_200))
      while MonotonicInstant.now < end { never.wait(until: end) }
      return .success([host])
    }
    #expect(try lookup.addresses(of: "a.test", within: .seconds(2)).get() == ["a.test"])
  }

  @Test func `earlier addresses are used when the resolver fails or is late`() throws {
    let held = try EventFD()
    defer { held.ring() }
    let count = Mutex(0)
    let lookup = HostLookup { host in
      switch count.withLock({ count in
        defer { count += 1 }; return count
      }) {
      case 0: return .success([host])
      case 1: return .failure(.init("temporary failure"))
      default:
        held.wait(until: nil)
        return .failure(.init("late"))
      }
    }
    for _ in 0..<3 { #expect(try lookup.addresses(of: "a.test", within: .seconds(10)).get() == ["a.test"]) }
    #expect(count.withLock(\.self) == 3)
  }

  @Test func `the system knows localhost, and not a name that cannot exist`() throws {
    let lookup = Connecting().lookup
    #expect(try lookup.addresses(of: "localhost", within: .seconds(10)).get().contains { ["127.0.0.1", "::1"].contains($0) })
    #expect(throws: HostLookup.Failure.self) { try lookup.addresses(of: "a..b", within: .seconds(10)).get() }
  }

  @Test func `an address that does not answer is passed over, and tried last from then on`() throws {
    let test = try TestServerQueue()
    let silent = try SilentServer(port: TestPostgreSQL.shared.get().place.port)
    defer { silent.close() }
    let connecting = Connecting(lookup: HostLookup { _ in .success(["127.0.0.2", "127.0.0.1"]) }, limit: .seconds(1))
    var opening = QueueOpening(creates: true)
    (opening.sync, opening.timeout) = (.off, .seconds(20))
    let queue = try PostgreSQLQueue(try test.address(host: "db.test"), opening, connecting: connecting)
    #expect(try queue.enqueue([NewPayload("a")]) == 1)
    #expect(try queue.lease().map(\.text) == ["a"])
    #expect(silent.connections == 1)
  }

  @Test func `the error names the host, the address and the limit`() throws {
    let test = try TestServerQueue()
    let silent = try SilentServer(port: TestPostgreSQL.shared.get().place.port)
    defer { silent.close() }
    let connecting = Connecting(lookup: HostLookup { _ in .success(["127.0.0.2"]) }, limit: .milliseconds(50))
    let address = try test.address(host: "db.test")
    let error = #expect(throws: QueueError.self) { try PostgreSQLQueue(address, QueueOpening(creates: true), connecting: connecting) }
    #expect("\(try #require(error))".contains("(127.0.0.2): no answer within 50 ms"), "\(String(describing: error))")
    let nameless = Connecting(lookup: HostLookup { _ in .failure(.init("Name or service not known")) })
    let other = #expect(throws: QueueError.self) { try PostgreSQLQueue(address, QueueOpening(creates: true), connecting: nameless) }
    #expect("\(try #require(other))".contains("db.test:"), "\(String(describing: other))")
    #expect("\(try #require(other))".contains("Name or service not known"), "\(String(describing: other))")
  }
}

/// A server at 127.0.0.2 whose connections are accepted by the kernel, and never answered.
private struct SilentServer {
  private let socket: Int32

  init(port: UInt16) throws {
    socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
    var yes: Int32 = 1
    unsafe setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0002).bigEndian
    let bound = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    try #require(bound == 0 && listen(socket, 10) == 0)
  }

  /// How many connections have come.
  var connections: Int {
    var count = 0
    while true {
      let accepted = accept(socket, nil, nil)
      guard accepted >= 0 else { return count }
      Glibc.close(accepted)
      count += 1
    }
  }

  func close() { Glibc.close(socket) }
}
