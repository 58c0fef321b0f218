import AttacheTesting
import Testing

@testable import Attache

/// The gates and limits of a run also apply to files that an earlier run cached.
@Suite(.timeLimit(.minutes(1))) struct FetchCacheGateTests {
  @Test func `a URL that this run refuses is not answered from the cache`() async throws {
    try await withCacheStage { stage in
      stage.origin.serve("/a", Sample.png)
      _ = try await stage.fetch("/a")
      let ended1 = try await stage.fetch("/a") { $0.policy.allowHTTP = false }
      #expect(ended1.reason == .policyScheme)
      let ended2 = try await stage.fetch("/a") { $0.policy.deniedHosts = [try? HostPattern("127.0.0.1")].compactMap(\.self) }
      #expect(ended2.reason == .policyHost)
      #expect(try await stage.fetch("/a", nets: []).reason == .policyAddress)
      #expect(try await stage.fetch("/a").record.cache == .hit)
    }
  }

  @Test func `a name that led to a private address is looked up before the cache answers`() async throws {
    let dns = try await StubDNS(["cdn.example.test": .addresses([.v4(0x7F00_0001)])])
    try await withCacheStage(dns: dns) { stage in
      stage.origin.serve("/a", Sample.png)
      let url = stage.origin.url("/a", host: "cdn.example.test")
      _ = try await stage.fetch(url)
      #expect(try await stage.fetch(url, nets: ["10.0.0.0/8"]).reason == .policyAddress)
      let again = try await stage.fetch(url)
      #expect(again.record.cache == .hit && again.record.timing.dns != nil)
      #expect(stage.origin.requestCount() == 1)
    }
    await dns.stop()
  }

  @Test func `a name that led to a private address, and whose file has gone, is fetched`() async throws {
    let dns = try await StubDNS(["cdn.example.test": .addresses([.v4(0x7F00_0001)])])
    try await withCacheStage(dns: dns) { stage in
      stage.origin.serve("/a", Sample.png)
      let url = stage.origin.url("/a", host: "cdn.example.test")
      let file = try #require(try await stage.fetch(url).file)
      stage.folder.remove(file.relativePath)
      #expect(try await stage.fetch(url).record.cache == .miss)
      #expect(stage.origin.requestCount() == 2)
    }
    await dns.stop()
  }

  @Test func `a file that came under other root certificates is not answered from the cache`() async throws {
    let other = try await FaultOrigin.start(tls: .selfMade())
    try await withCacheStage(tls: .selfMade()) { stage in
      stage.origin.serve("/a", Sample.png, faults: [.header(name: "Cache-Control", value: "max-age=3600")])
      let (roots, otherRoots) = (stage.origin.rootCertificatePEMFile, other.rootCertificatePEMFile)
      let first = try await stage.fetch("/a") { $0.rootCertificates = roots }
      let underOthers = try await stage.fetch("/a") { $0.rootCertificates = otherRoots }
      let underSystem = try await stage.fetch("/a")
      let again = try await stage.fetch("/a") { $0.rootCertificates = roots }
      #expect(first.record.cache == .miss && again.record.cache == .hit)
      #expect(underOthers.reason == .tlsCertificate && underSystem.reason == .tlsCertificate)
      #expect(stage.origin.requestCount() == 1)
    }
    await other.stop()
  }

  @Test func `each set of root certificates has rows of its own`() {
    let roots = Array("roots".utf8)
    #expect(IndexKey("https://cdn.example/a", roots: roots) != IndexKey("https://cdn.example/a"))
    #expect(IndexKey("https://cdn.example/a", roots: roots) != IndexKey("https://cdn.example/a", roots: Array("others".utf8)))
  }

  @Test func `a redirect that this run refuses is not followed into the cache`() async throws {
    try await withCacheStage { stage in
      let target = stage.origin.url("/a", host: "localhost")
      stage.origin.serve("/start", [], faults: [.redirect(to: target)])
      stage.origin.serve("/a", Sample.png)
      let named: (inout FetchConfiguration) -> Void = {
        $0.policy.allowedHosts = ["localhost", "127.0.0.1"].compactMap { try? HostPattern($0) }
      }
      let ended3 = try await stage.fetch("/start", nets: ["127.0.0.1/32", "::1/128"], configure: named)
      #expect(ended3.file != nil)
      #expect(try await stage.fetch("/start").reason == .policyRedirect)
    }
  }

  @Test func `the limits of this run hold for what is kept`() async throws {
    try await withCacheStage { stage in
      stage.origin.serve("/a", Sample.png)
      _ = try await stage.fetch("/a")
      let ended4 = try await stage.fetch("/a") { $0.limits.image = Sample.png.count - 1 }
      #expect(ended4.reason == .sizeImage)
      let ended5 = try await stage.fetch("/a") { $0.limits.pixels = 1 }
      #expect(ended5.reason == .sizePixels)
      let ended6 = try await stage.fetch("/a") { $0.limits.image = Sample.png.count }
      #expect(ended6.record.cache == .hit)
      let ended7 = try await stage.fetch("/a") { $0.limits.pixels += 1 }
      #expect(ended7.record.cache == .hit)
      #expect(stage.origin.requestCount() == 3)
    }
  }

  @Test(arguments: [
    ("93.184.216.34", true), ("2606:4700::1111", true), ("127.0.0.1", false), ("10.0.0.1", false), ("169.254.169.254", false),
    ("::1", false), ("fd00:ec2::254", false), ("64:ff9b::a00:1", false), ("2002:7f00:1::", false), ("168.63.129.16", false),
  ])
  func `what is open to everybody is what the gate without networks passes`(text: String, isPublic: Bool) throws {
    let address = try #require(IPAddress(text))
    #expect(AddressGate.isPublic(address) == isPublic)
    let passes = (try? AddressGate().check(address)) != nil
    #expect(passes == isPublic)
  }
}
