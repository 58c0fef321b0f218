import Attache
import AttacheTesting
import Glibc
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(2)))
struct AresResolverTests {
  private static let v4 = IPAddress.v4(0x5DB8_D822)
  private static let v6 = IPAddress.v6(0x2606_2800_0220_0001_0248_1893_25C8_1946)

  @Test func `the addresses of both families are handed on, IPv6 first`() async throws {
    try await withResolver(["both.example": .addresses([Self.v4, Self.v6])]) { _, resolver in
      #expect(await resolver.resolve("both.example") == .success([Self.v6, Self.v4]))
    }
  }

  /// The answer of a name server, and the expected result.
  struct Saying: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var answer: StubDNS.Answer
    var result: Result<[IPAddress], DNSFailure>

    init(_ description: String, _ answer: StubDNS.Answer, _ result: Result<[IPAddress], DNSFailure>) {
      testDescription = description
      self.answer = answer
      self.result = result
    }
  }

  private static let many = (0..<100).map { IPAddress.v4(0x0808_0000 + $0) }

  @Test(arguments: [
    Saying("no such name", .noSuchName, .failure(.notFound)),
    Saying("no such record", .noData, .failure(.notFound)),
    Saying("server failure", .serverFailure, .failure(.failed)),
    Saying("refused", .refused, .failure(.failed)),
    Saying("silence", .silence, .failure(.timeout)),
    Saying("another query's identifier", .wrongIdentifier(.addresses([v4])), .failure(.timeout)),
    Saying("another question", .wrongQuestion(.addresses([v4])), .failure(.timeout)),
    Saying("garbage", .garbage(Array(repeating: 0xFF, count: 40)), .failure(.timeout)),
    Saying("one byte", .garbage([0]), .failure(.timeout)),
    Saying("a late answer", .delayed(.milliseconds(5), .addresses([v4])), .success([v4])),
    Saying("aliases", .aliases(["a.example", "b.example"], [v4]), .success([v4])),
    Saying("aliases that lead back", .aliasLoop(["a.example", "b.example"]), .failure(.notFound)),
    Saying("an alias without an address", .aliases(["a.example"], []), .failure(.notFound)),
    Saying("a truncated answer", .truncated(.addresses([v4])), .success([v4])),
    Saying("more than fits into a datagram", .addresses(many), .success(many)),
    Saying("4,000 addresses", .addresses((0..<4000).map { .v4(0x0808_0000 + $0) }), .failure(.failed)),
    Saying("only IPv4, IPv6 fails", .perFamily(v4: .addresses([v4]), v6: .serverFailure), .success([v4])),
    Saying("only IPv6, IPv4 fails", .perFamily(v4: .serverFailure, v6: .addresses([v6])), .success([v6])),
    Saying("only IPv4, IPv6 is silent", .perFamily(v4: .addresses([v4]), v6: .silence), .success([v4])),
    Saying("only IPv4, IPv6 makes no sense", .perFamily(v4: .addresses([v4]), v6: .garbage([1, 2, 3])), .success([v4])),
  ])
  func `an answer comes to`(_ saying: Saying) async throws {
    let isToExpire = saying.result == .failure(.timeout)
    let timeLimits = AresResolver.TimeLimits(
      firstTry: isToExpire ? .milliseconds(50) : .seconds(30), tries: 1, otherFamily: .milliseconds(isToExpire ? 50 : 1500))
    try await withResolver(["host.example": saying.answer], timeLimits: timeLimits) { _, resolver in
      #expect(await resolver.resolve("host.example") == saying.result)
    }
  }

  @Test func `a silent family does not hold up the other`() async throws {
    let timeLimits = AresResolver.TimeLimits(firstTry: .seconds(60), otherFamily: .milliseconds(1))
    try await withResolver(["half.example": .perFamily(v4: .addresses([Self.v4]), v6: .silence)], timeLimits: timeLimits) { _, resolver in
      #expect(await resolver.resolve("half.example") == .success([Self.v4]))
    }
  }

  @Test func `a truncated answer is asked for again over TCP`() async throws {
    try await withResolver(["big.example": .truncated(.addresses([Self.v4]))]) { stub, resolver in
      _ = await resolver.resolve("big.example")
      #expect(stub.queries.contains { $0.overTCP && $0.question.type == .a })
    }
  }

  @Test func `look-ups for one name share one answer`() async throws {
    try await withResolver(["slow.example": .silence]) { stub, resolver in
      let (answers, continuation) = AsyncStream<Result<[IPAddress], DNSFailure>>.makeStream()
      for _ in 0..<3 { resolver.resolve("slow.example") { continuation.yield($0) } }
      await stub.waitForQueries(count: 2)
      // The hosts file answers this name, after all earlier questions.
      _ = await resolver.resolve("localhost")
      stub.release("slow.example", with: .addresses([Self.v4]))
      var count = 0
      for await answer in answers.prefix(3) {
        #expect(answer == .success([Self.v4]))
        count += 1
      }
      #expect(count == 3)
      #expect(stub.queries.count == 2)
    }
  }

  @Test func `an answer is kept for its time to live`() async throws {
    try await withResolver(["kept.example": .addresses([Self.v4], ttl: 60)]) { stub, resolver in
      _ = await resolver.resolve("kept.example")
      #expect(await resolver.resolve("kept.example") == .success([Self.v4]))
      #expect(stub.queries.count == 2)
    }
  }

  @Test func `an answer without time to live is not kept`() async throws {
    let answers = StubDNS.Answer.sequence([.addresses([Self.v4], ttl: 0), .addresses([.v4(1)], ttl: 0)])
    try await withResolver(["fleeting.example": answers]) { stub, resolver in
      #expect(await resolver.resolve("fleeting.example") == .success([Self.v4]))
      #expect(await resolver.resolve("fleeting.example") == .success([.v4(1)]))
      #expect(stub.queries.count == 4)
    }
  }

  @Test func `a failure is not kept`() async throws {
    try await withResolver(["new.example": .sequence([.noSuchName, .addresses([Self.v4])])]) { _, resolver in
      #expect(await resolver.resolve("new.example") == .failure(.notFound))
      #expect(await resolver.resolve("new.example") == .success([Self.v4]))
    }
  }

  @Test func `a name in the hosts file is not asked for`() async throws {
    try await withResolver([:]) { stub, resolver in
      let addresses = try await resolver.resolve("localhost").get()
      #expect(addresses.contains(.v4(0x7F00_0001)))
      #expect(stub.queries.isEmpty)
    }
  }

  @Test func `the next server is asked when one is not there`() async throws {
    // Nothing listens on port 1 (tcpmux), and the kernel reports this immediately.
    let gone = "127.0.0.1:1"
    let stub = try await StubDNS(["host.example": .addresses([Self.v4])])
    try await withResolver(servers: [gone, stub.address]) { resolver in
      #expect(await resolver.resolve("host.example") == .success([Self.v4]))
    }
    try await withResolver(servers: [gone]) { resolver in
      #expect(await resolver.resolve("host.example") == .failure(.failed))
    }
    await stub.stop()
  }

  @Test func `a name that no query can carry does not exist`() async throws {
    try await withResolver([:]) { stub, resolver in
      for name in ["a..example", String(repeating: "a", count: 64) + ".example", "hidden.onion"] {
        #expect(await resolver.resolve(name) == .failure(.notFound))
      }
      #expect(stub.queries.isEmpty)
    }
  }

  @Test func `after the resolver is shut down nobody is told anything`() async throws {
    let stub = try await StubDNS(others: .silence)
    let loop = try EventLoop()
    let resolver = try TestResolver(loop: loop, servers: [stub.address])
    let answers = Mutex(0)
    resolver.resolve("waiting.example") { _ in answers.withLock { $0 += 1 } }
    await stub.waitForQueries(count: 2)
    await resolver.shutdown()
    resolver.resolve("later.example") { _ in answers.withLock { $0 += 1 } }
    stub.release("waiting.example", with: .addresses([Self.v4]))
    await loop.passes {}
    #expect(answers.withLock { $0 } == 0)
    #expect(!stub.queries.contains { $0.question.name == "later.example" })
    loop.stop()
    await stub.stop()
  }

  @Test(arguments: [
    "127.0.0.1", "127.0.0.1:0", "127.0.0.1:65536", ":53", "::1:53", "[127.0.0.1]:53", "name.example:53", "1.1.1.1,2.2.2.2:53", "",
  ])
  func `a server that is not an address with a port is refused`(_ server: String) throws {
    let loop = try EventLoop()
    defer { loop.stop() }
    #expect(throws: AresError.badServer(server)) { try AresResolver(loop: loop, servers: [server]) }
  }

  @Test func `a source port serves for a thousand names only`() async throws {
    let stub = try await StubDNS(others: .silence)
    try await withResolver(servers: [stub.address], timeLimits: .init(firstTry: .seconds(600))) { resolver in
      for number in 0..<1100 {
        resolver.resolve("n\(number).example") { _ in }
        if number % 50 == 49 { await stub.waitForQueries(of: "n\(number).example", count: 2) }
      }
      #expect(Set(stub.queries.map(\.clientPort)).count == 2)
    }
    await stub.stop()
  }

  @Test func `the oldest look-ups are given up when there are too many`() async throws {
    // It takes everything and answers nothing.
    let socket = try LoopbackSocket(SOCK_DGRAM)
    try await withResolver(servers: ["127.0.0.1:\(socket.port)"], timeLimits: .init(firstTry: .seconds(600))) { resolver in
      let (answers, continuation) = AsyncStream<Result<[IPAddress], DNSFailure>>.makeStream()
      resolver.resolve("first.example") { continuation.yield($0) }
      for number in 0..<(16 * 1024) { resolver.resolve("n\(number).example") { _ in } }
      for await answer in answers.prefix(1) { #expect(answer == .failure(.timeout)) }
    }
  }
}

extension AresResolverTests {
  @Test func `1,000 stalled names delay no other and take no threads and few descriptors`() async {
    await #expect(processExitsWith: .success) {
      let stub = try await StubDNS(["good.example": .addresses([.v4(1)], ttl: 0)], others: .silence)
      try await withResolver(servers: [stub.address]) { resolver in
        _ = await resolver.resolve("good.example")
        let before = try (threads: entries(of: "/proc/self/task"), descriptors: entries(of: "/proc/self/fd"))
        // In portions that fit into the stub's receive buffer: c-ares repeats a dropped query only
        // after a second.
        for number in 0..<1000 {
          resolver.resolve("n\(number).example") { _ in }
          if number % 50 == 49 { await stub.waitForQueries(of: "n\(number).example", count: 2) }
        }
        #expect(await resolver.resolve("good.example") == .success([.v4(1)]))
        let after = try (threads: entries(of: "/proc/self/task"), descriptors: entries(of: "/proc/self/fd"))
        // Swift's own pool starts threads as needed, at most one per core.
        #expect(after.threads <= before.threads + sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        #expect(after.descriptors <= before.descriptors + 2)
      }
    }
  }

  @Test func `the environment changes no answer`() async {
    await #expect(processExitsWith: .success) {
      let aliases = "/tmp/attache-hostaliases-\(getpid())"
      let descriptor = unsafe open(aliases, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
      let written = unsafe write(descriptor, "alias localhost\n", 16)
      #expect(written == 16)
      close(descriptor)
      for (name, value) in [("HOSTALIASES", aliases), ("LOCALDOMAIN", "example"), ("RES_OPTIONS", "ndots:5 retry:1 retrans:1")] {
        unsafe setenv(name, value, 1)
      }
      let stub = try await StubDNS(["alias.example": .addresses([.v4(1)])])
      try await withResolver(servers: [stub.address]) { resolver in
        #expect(await resolver.resolve("alias") == .failure(.notFound))
      }
      #expect(Set(stub.queries.map(\.question.name)) == ["alias"])
      unsafe unlink(aliases)
    }
  }
}

/// The number of entries in a folder.
private func entries(of folder: String) throws -> Int {
  let opened = unsafe opendir(folder)
  let handle = unsafe try #require(unsafe opened)
  defer { unsafe closedir(handle) }
  var count = 0
  while unsafe readdir(handle) != nil { count += 1 }
  return count
}
