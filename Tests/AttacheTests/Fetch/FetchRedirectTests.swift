import AttacheTesting
import Testing

@testable import Attache

@Suite(.timeLimit(.minutes(1))) struct FetchRedirectTests {

  @Test(arguments: [
    ("there", "/folder/there"), ("../there", "/there"), ("/there", "/there"), ("?there", "/folder/start"),
    ("./x/../there", "/folder/there"),
  ])
  func `a relative place is found from the URL that names it`(_ location: String, path: String) async throws {
    try await withFetchStage { stage in
      stage.origin.serve("/folder/start", Sample.png, faults: [.once(.redirect(to: location))])
      stage.origin.serve(path, Sample.png, faults: path == "/folder/start" ? [.once(.redirect(to: location))] : [])
      #expect(await stage.fetch("/folder/start").file != nil)
      #expect(stage.origin.requests.map(\.path) == ["/folder/start", path])
    }
  }

  @Test(arguments: [301, 302, 303, 307, 308]) func `every status that redirects does`(status: Int) async throws {
    try await withFetchStage { stage in
      stage.origin.serve("/a", [], faults: [.redirect(to: "/b", status: status)])
      stage.origin.serve("/b", Sample.png)
      #expect(await stage.fetch("/a").file != nil)
      #expect(stage.origin.requests.allSatisfy { $0.method == "GET" })
    }
  }

  @Test func `a redirect to an address that is not allowed is refused before any connection`() async throws {
    let listener = try LoopbackListener(host: 2)
    try await withFetchStage { stage in
      stage.origin.serve("/a", [], faults: [.redirect(to: "http://127.0.0.2:\(listener.port)/")])
      let fetched = await stage.fetch("/a")
      #expect(fetched.reason == .policyRedirect)
      #expect(fetched.record.status == 302)
      #expect(!listener.hasConnection)
    }
  }

  @Test(arguments: [
    "http://10.0.0.1/", "http://169.254.169.254/latest/meta-data", "http://[::1]/", "http://0x7f000002/", "http://2130706434/",
    "http://[::ffff:10.0.0.1]/", "file:///etc/passwd", "gopher://127.0.0.1/", "http://user@127.0.0.1/", "//10.0.0.1/", "http://localhost/",
  ])
  func `a redirect to where a payload may not go is refused`(_ location: String) async throws {
    try await withFetchStage { stage in
      stage.origin.serve("/a", [], faults: [.redirect(to: location)])
      #expect(await stage.fetch("/a").reason == .policyRedirect)
      #expect(stage.origin.requestCount() == 1)
    }
  }

  @Test func `the connection of a redirect is used again`() async throws {
    try await withFetchStage { stage in
      stage.origin.serve("/a", Sample.png, faults: [.redirectChain(hops: 5)])
      #expect(await stage.fetch("/a").file != nil)
      #expect(stage.origin.connectionCount == 1)
    }
  }
}
