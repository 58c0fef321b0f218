import AttacheTesting
import Foundation
import Testing

@testable import Attache

@Suite(.timeLimit(.minutes(1))) struct FetchTLSTests {
  @Test(arguments: [true, false]) func `HTTP/2 is spoken where the origin offers it`(http2: Bool) async throws {
    try await withFetchStage(tls: .selfMade(), http2: http2) { stage in
      stage.origin.serve("/a", Sample.png)
      let fetched = await stage.fetch("/a")
      #expect(fetched.file?.sha256 == Sample.sha256(Sample.png))
      #expect(fetched.record.timing.tls != nil)
      #expect(stage.origin.requests.map(\.httpVersion) == [http2 ? "2" : "1.1"])
    }
  }

  @Test func `a fetcher's transfers share one connection over HTTP/2`() async throws {
    try await withFetchStage(tls: .selfMade()) {
      $0.fetchers = 1
    } _: { stage in
      for number in 0..<16 { stage.origin.serve("/\(number)", Sample.png, faults: [.stallBeforeHeaders]) }
      let running = (0..<16).map { stage.begin("/\($0)") }
      await stage.origin.waitForRequests(count: 16)
      #expect(stage.origin.connectionCount == 1)
      for number in 0..<16 { stage.origin.release("/\(number)") }
      for fetch in running { #expect(await fetch.end.file != nil) }
    }
  }

  @Test func `a stalled stream that is given up leaves the others of its connection alone`() async throws {
    try await withFetchStage(tls: .selfMade()) {
      $0.fetchers = 1
    } _: { stage in
      stage.origin.serve("/stalled", Sample.png, faults: [.stall(afterBytes: 20)])
      stage.origin.serve("/waiting", Sample.png, faults: [.stallBeforeHeaders])
      let (stalled, waiting) = (stage.begin("/stalled"), stage.begin("/waiting"))
      await stage.origin.waitForRequests(count: 2)
      stalled.cancel()
      await stage.settle()
      stage.origin.release("/waiting")
      #expect(await waiting.end.file != nil)
      #expect(stage.origin.connectionCount == 1)
    }
  }

  @Test func `a certificate holds for the name in the URL, wherever the name leads`() async throws {
    let home = StubDNS.Answer.addresses([.v4(0x7F00_0001)])
    let dns = try await StubDNS(["right.example.test": home, "wrong.example.test": home])
    try await withFetchStage(tls: .selfMade(names: ["right.example.test"]), dns: dns) { stage in
      stage.origin.serve("/a", Sample.png)
      #expect(await stage.fetch(stage.origin.url("/a", host: "right.example.test")).file != nil)
      let end = await stage.fetch(stage.origin.url("/a", host: "wrong.example.test"))
      #expect(end.reason == .tlsHost)
      let explanation = try #require(end.record.explanation)
      #expect(explanation.hasPrefix("the origin's certificate is for '"), "\(explanation)")
      #expect(explanation.contains("'::1'") && explanation.contains(" and 1 more, not for 'wrong.example.test'; check the URL"))
    }
    await dns.stop()
  }

  @Test(arguments: [
    (FaultOrigin.TLS.expired, "the origin's certificate expired on {yesterday}; renew it"),
    (.notYetValid, "the origin's certificate is not valid before {tomorrow}; check this machine's clock"),
    (.selfSigned, "the origin's certificate comes from an unknown authority, 'attache fault origin'; name its root with --cacert"),
    (.withoutIntermediate, "the origin does not send its intermediate certificate, that of 'attache fault origin intermediate'"),
  ])
  func `the message names the cause of a certificate that is not accepted`(tls: FaultOrigin.TLS, message: String) async throws {
    func texts() -> Set<String> {
      let days = [-1, 1].map { Date(timeIntervalSinceNow: $0 * 86_400).formatted(.iso8601.year().month().day()) }
      return [message.replacing("{yesterday}", with: days[0]).replacing("{tomorrow}", with: days[1])]
    }
    let before = texts()
    try await withFetchStage(tls: tls) { stage in
      for number in 0..<2 {
        let end = await stage.fetch("/\(number)")
        #expect(end.reason == .tlsCertificate)
        let explanation = try #require(end.record.explanation)
        // Midnight may have passed since the certificate was made.
        #expect(before.union(texts()).contains { explanation.hasPrefix($0) }, "\(explanation)")
      }
    }
  }

  @Test func `a certificate below a root of somebody else has an unknown authority`() async throws {
    let other = try await FaultOrigin.start(tls: .selfMade())
    try await withFetchStage(tls: .selfMade(), configure: { $0.rootCertificates = other.rootCertificatePEMFile }) { stage in
      let explanation = try #require(await stage.fetch("/a").record.explanation)
      #expect(
        explanation.hasPrefix("the origin's certificate comes from an unknown authority, 'attache fault origin root "), "\(explanation)")
    }
    await other.stop()
  }

  @Test(arguments: [(FaultOrigin.TLS.expired, "expired on "), (.notYetValid, "is not valid before ")])
  func `a certificate whose days are wrong too has both causes`(tls: FaultOrigin.TLS, words: String) async throws {
    let other = try await FaultOrigin.start(tls: .selfMade())
    try await withFetchStage(tls: tls, configure: { $0.rootCertificates = other.rootCertificatePEMFile }) { stage in
      let explanation = try #require(await stage.fetch("/a").record.explanation)
      #expect(explanation.hasPrefix("the origin's certificate \(words)"), "\(explanation)")
      #expect(explanation.contains("; also, the origin's certificate comes from an unknown authority, '"), "\(explanation)")
    }
    await other.stop()
  }

  @Test func `a certificate of a chain, and an error that has no text of its own, are told apart`() {
    #expect(
      CertificateFault.expired(on: "2026-01-31", authority: "Old CA").message(toGet: "h").contains(
        "authority 'Old CA', which the origin sends, expired on 2026-01-31"))
    let other = CertificateFault.other("CA md too weak").message(toGet: "h")
    #expect(other == "the origin's certificate is not valid (CA md too weak); replace it")
  }

  @Test func `a certificate for many names shows the first, and one for none says so`() {
    #expect(
      CertificateFault.otherHost(names: ["*.a.example", "::1"], more: 7).message(toGet: "b.example")
        == "the origin's certificate is for '*.a.example', '::1' and 7 more, not for 'b.example'; check the URL, "
        + "or give the origin a certificate for its name")
    #expect(CertificateFault.otherHost(names: [], more: 0).message(toGet: "b.example").contains("names no host (subjectAltName)"))
  }

  @Test(arguments: ["/nowhere/roots.pem", "/dev/null", "/proc/self/status"])
  func `a file without root certificates is refused at the start`(_ file: String) async throws {
    let folder = AttachmentStoreTestFolder()
    var configuration = FetchConfiguration()
    configuration.rootCertificates = file
    let store = try folder.store()
    #expect(throws: StartError.self) { try MediaFetcher(configuration, store: store) }
  }

  @Test(.tags(.realTime)) func `a handshake that stalls costs its own line alone`() async throws {
    let silent = try await FaultOrigin.start(tls: .selfMade(), connectionFault: .silence)
    try await withFetchStage(tls: .selfMade()) { stage in
      stage.origin.serve("/a", Sample.png)
      let lines = [silent.url("/a"), stage.origin.url("/a"), silent.url("/b")].map { FilterRun.line($0) }
      let run = try await stage.filter(lines, deadline: .milliseconds(900))
      // Whether another attempt fits into the budget depends on its pauses.
      #expect(run.records.map { $0.reason.map { ["deadline", "tls.handshake"].contains($0) } } == [true, nil, true])
      #expect(run.late.isEmpty)
    }
    await silent.stop()
  }

  @Test func `an origin that resets every handshake is reported as such`() async throws {
    try await withFetchStage(tls: .selfMade(), connectionFault: .reset) { stage in
      #expect(await stage.fetch("/a").reason == .tlsHandshake)
    }
  }
}
