import AttacheTesting
import Testing

@testable import Attache

/// References with fallback URLs.
@Suite(.timeLimit(.minutes(1))) struct ExtensionFallbackTests {
  /// Processes one payload with one reference: the first of these paths or URLs, and the others as
  /// fallbacks.
  private func serve(_ places: [String], on stage: FetchStage, maximum: Int = 10, identifier: String? = nil) async -> ExtensionResult {
    let (fetcher, store) = (stage.fetcher, stage.store)
    let host = ServiceExtensionHost(clock: stage.clock, grace: .milliseconds(50)) {
      MediaExtension(fetcher: fetcher, store: store, maximumAttachments: maximum)
    }
    let urls = places.map { UntrustedText($0.hasPrefix("/") ? stage.origin.url($0) : $0) }
    var reference = MediaReference(url: urls[0], identifier: identifier.map { UntrustedText($0) })
    reference.fallbacks = Array(urls.dropFirst())
    let payload = Payload(
      content: NotificationContent(body: "Hello"), references: [reference], dialect: nil, splice: Splice(payload: 0..<2))
    let request = NotificationRequest(identifier: "1", payload: payload, deadline: stage.clock.now.advanced(by: .seconds(30)))
    let delivery = await host.run(request)
    for attachment in delivery.content?.attachments ?? [] { store.unpin(attachment.file) }
    return delivery
  }

  private func withMedia(_ body: (FetchStage) async throws -> Void) async throws {
    try await withFetchStage { stage in
      stage.origin.serve("/picture", Sample.png)
      stage.origin.serve("/page", Array("<!DOCTYPE html><html></html>".utf8))
      try await body(stage)
      #expect(await stage.isAtRest())
      #expect(stage.pinned.isEmpty)
    }
  }

  @Test func `whatever fails before, the first that can be had is attached, as one reference`() async throws {
    try await withMedia { stage in
      let delivery = await serve(["no URL", "/none", "/page", "/picture", "/song"], on: stage, maximum: 1)
      #expect(delivery.content?.attachments.map(\.source.string) == [stage.origin.url("/picture")])
      #expect(delivery.media.map(\.reason) == [.policyURL, .httpStatus, .typeUnsupported, nil])
      #expect(delivery.media.map(\.url.string) == ["no URL"] + ["/none", "/page", "/picture"].map { stage.origin.url($0) })
      #expect(stage.origin.requestCount() == 3)
    }
  }

  @Test func `the identifier is that of the first URL, whichever is attached`() async throws {
    try await withMedia { stage in
      let direct = await serve(["/none", "/picture"], on: stage)
      let digits = Sample.sha256(Array(stage.origin.url("/none").utf8)).prefix(16)
      #expect(direct.content?.attachments.map(\.identifier) == [UntrustedText(String(digits))])
    }
  }

  @Test func `a reference that is not followed has no fallback either`() async throws {
    try await withMedia { stage in
      let hostile = await serve(["/none", "/picture"], on: stage, identifier: "../x")
      #expect(hostile.media.map(\.reason) == [.payloadIdentifier])
      let beyond = await serve(["/none", "/picture"], on: stage, maximum: 0)
      #expect(beyond.media.map(\.reason) == [.policyAttachments])
      #expect(stage.origin.requestCount() == 0)
    }
  }

  @Test func `no more URLs of a reference are tried than ten`() async throws {
    try await withMedia { stage in
      let delivery = await serve(Array(repeating: "no URL", count: 30_000) + ["/picture"], on: stage)
      #expect(delivery.reason == .policyURL)
      #expect(delivery.media.count == 10)
    }
  }
}
