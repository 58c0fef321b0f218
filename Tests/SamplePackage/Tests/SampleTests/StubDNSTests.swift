import Attache
import AttacheTesting
import Foundation
import Testing

/// attache's fetcher as a library, with names that a stub answers.
@Suite(.timeLimit(.minutes(1)))
struct StubDNSTests {
  private func fetch(_ url: String, names: StubDNS) async throws -> Result<StoredFile, FetchFailure> {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = try AttachmentStore(directory: folder.path, maximumBytes: 1_000_000, maximumAge: .seconds(60))
    var configuration = FetchConfiguration()
    configuration.policy = URLPolicy(allowHTTP: true, allowedNets: [try CIDR("127.0.0.1/32")])
    configuration.nameServers = [names.address]
    let fetcher = try MediaFetcher(configuration, store: store)
    defer { fetcher.shutdown() }
    return await withCheckedContinuation { continuation in
      _ = fetcher.fetch(url, deadline: .now.advanced(by: .seconds(20))) { result, _ in continuation.resume(returning: result) }
    }
  }

  @Test func `a name that lives on loopback is reached when it is allowed, and one behind the firewall is not`() async throws {
    let origin = try await FaultOrigin.start()
    origin.serve("/photo.jpg", try StandIn.bytes(ofType: "jpg", size: 20_000))
    let home = try #require(IPAddress("127.0.0.1"))
    let inner = try #require(IPAddress("10.0.0.1"))
    let names = try await StubDNS(["photo.example": .addresses([home]), "inner.example": .addresses([inner])])
    let photo = try await fetch(origin.url("/photo.jpg", host: "photo.example"), names: names).get()
    #expect(photo.size == 20_000)
    await #expect(throws: FetchFailure.self) {
      try await fetch(origin.url("/photo.jpg", host: "inner.example"), names: names).get()
    }
    #expect(origin.requestCount() == 1)
    await names.stop()
    await origin.stop()
  }
}
