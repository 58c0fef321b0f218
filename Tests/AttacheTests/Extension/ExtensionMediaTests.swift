import AttacheTesting
import Foundation
import Testing

@testable import Attache

/// attache's own extension, with several references in a payload.
@Suite(.timeLimit(.minutes(1))) struct ExtensionMediaTests {
  /// Processes one payload that names these paths or URLs.
  private func serve(
    _ places: [String], on stage: FetchStage, clock: (any DeadlineClock)? = nil, maximum: Int = 10,
    onExpiry: MediaExtension.ExpiryChoice = .original, content: NotificationContent = NotificationContent(body: "Hello"),
    budget: Duration = .seconds(30)
  ) async -> ExtensionResult {
    let (fetcher, store, clock) = (stage.fetcher, stage.store, clock ?? stage.clock)
    let host = ServiceExtensionHost(clock: clock, grace: .milliseconds(50)) {
      MediaExtension(fetcher: fetcher, store: store, maximumAttachments: maximum, onExpiry: onExpiry)
    }
    let references = places.map { MediaReference(url: UntrustedText($0.hasPrefix("/") ? stage.origin.url($0) : $0)) }
    let payload = Payload(content: content, references: references, dialect: nil, splice: Splice(payload: 0..<2))
    return await host.run(NotificationRequest(identifier: "1", payload: payload, deadline: clock.now.advanced(by: budget)))
  }

  /// Releases the delivery, as the filter does after it has written the line.
  private func release(_ delivery: ExtensionResult, _ store: AttachmentStore) {
    for attachment in delivery.content?.attachments ?? [] { store.unpin(attachment.file) }
  }

  private func withMedia(_ body: (FetchStage) async throws -> Void) async throws {
    try await withFetchStage { stage in
      stage.origin.serve("/picture", Sample.png)
      stage.origin.serve("/song", Sample.mp3)
      stage.origin.serve("/page", Array("<!DOCTYPE html><html></html>".utf8))
      stage.origin.serve("/stalled", Sample.png, faults: [.stall(afterBytes: 30)])
      try await body(stage)
      #expect(await stage.isAtRest())
    }
  }

  @Test func `all that can be had are attached in the order of their references`() async throws {
    try await withMedia { stage in
      let delivery = await serve(["/song", "/none", "/picture"], on: stage)
      #expect(delivery.content?.attachments.map(\.source.string) == [stage.origin.url("/song"), stage.origin.url("/picture")])
      #expect(delivery.content?.body == "Hello")
      #expect(delivery.reason == nil)
      #expect(delivery.media.map(\.reason) == [nil, .httpStatus, nil])
      #expect(stage.pinned.count == 2)
      release(delivery, stage.store)
    }
  }

  @Test func `when none can be had the first reason is the payload's`() async throws {
    try await withMedia { stage in
      let delivery = await serve(["/page", "no URL", "/none"], on: stage)
      #expect(delivery.content == nil)
      #expect(delivery.reason == .typeUnsupported)
      #expect(delivery.media.map(\.reason) == [.typeUnsupported, .policyURL, .httpStatus])
    }
  }

  @Test func `without references there is nothing to do`() async throws {
    try await withMedia { stage in
      let delivery = await serve([], on: stage)
      #expect(delivery.content == nil && delivery.reason == nil && delivery.media.isEmpty)
    }
  }

  @Test func `no more references are followed than may be`() async throws {
    try await withMedia { stage in
      let delivery = await serve(["/picture", "/song", "/page"], on: stage, maximum: 1)
      #expect(delivery.content?.attachments.map(\.source.string) == [stage.origin.url("/picture")])
      #expect(delivery.media.map(\.reason) == [nil, .policyAttachments, .policyAttachments])
      #expect(delivery.media.map(\.url.string) == ["/picture", "/song", "/page"].map { stage.origin.url($0) })
      #expect(stage.origin.requestCount() == 1)
      release(delivery, stage.store)
    }
  }

  @Test(arguments: [MediaExtension.ExpiryChoice.original, .bestAttempt])
  func `when time expires the user's choice decides`(choice: MediaExtension.ExpiryChoice) async throws {
    try await withMedia { stage in
      let clock = ManualClock()
      async let serving = serve(["/picture", "/stalled"], on: stage, clock: clock, onExpiry: choice)
      await stage.origin.waitForStalls(count: 1, path: "/stalled")
      // When the picture is a cache hit, the extension has it too: the loop answers both, the
      // extension first.
      #expect(await stage.fetch("/picture").file != nil)
      await stage.settle()
      clock.advance(by: .seconds(30))
      let delivery = await serving
      #expect(delivery.reason == (choice == .original ? .deadline : nil))
      #expect(delivery.content?.attachments.map(\.source.string) == (choice == .original ? nil : [stage.origin.url("/picture")]))
      #expect(delivery.media.map(\.reason) == [nil, .deadline])
      #expect(delivery.media.map(\.status) == [200, 200])
      #expect(delivery.media.last?.bytes == 30)
      #expect(delivery.media.last?.attempts == 1)
      await stage.origin.waitForConnections(open: 1)
      release(delivery, stage.store)
    }
  }

  @Test func `when time expires during a conversion the reason says so`() async throws {
    try await withFetchStage(converter: .wait, configure: { $0.steps = [.convert(Conversion())] }) { stage in
      stage.origin.serve("/picture", Sample.fixture("photo.webp"))
      let clock = ManualClock()
      async let serving = serve(["/picture"], on: stage, clock: clock)
      let joined = stage.begin("/picture")
      while !joined.ticket.isConverting, joined.ticket.record.reason == nil { await stage.settle() }
      #expect(joined.ticket.isConverting, "\(joined.ticket.record)")
      clock.advance(by: .seconds(30))
      let delivery = await serving
      #expect(delivery.reason == .convertDeadline)
      #expect(delivery.media.map(\.reason) == [.convertDeadline])
      joined.cancel()
    }
  }

  @Test func `what is not yet begun when time expires is named all the same`() async throws {
    try await withMedia { stage in
      for _ in 0..<200 {
        let answers = AsyncStream<ExtensionReply>.makeStream()
        let host = HostStage { PromptExtension(.init(receive: { _, answer in answers.continuation.yield(answer) })) }
        host.run()
        guard let answer = await answers.stream.first(where: { _ in true }) else { return }
        let media = MediaExtension(fetcher: stage.fetcher, store: stage.store)
        let urls = (0..<8).map { stage.origin.url("/stalled?\($0)") }
        let payload = Payload(
          content: NotificationContent(body: "Hello"), references: urls.map { MediaReference(url: UntrustedText($0)) }, dialect: nil,
          splice: Splice(payload: 0..<2))
        let request = NotificationRequest(identifier: "1", payload: payload, deadline: .now.advanced(by: .seconds(30)))
        let clock = try Attache.Thread.start("clock") { while host.delivered.isEmpty { media.timeWillExpire() } }
        media.didReceive(request, answer: answer)
        await host.waitForDelivery()
        // The thread cancels the fetches after it has delivered.
        clock.join()
        #expect(host.only?.delivery.media.map(\.url.string) == urls)
      }
    }
  }

  @Test func `a payload without alert text gets nothing, and nothing is held on to`() async throws {
    try await withMedia { stage in
      let delivery = await serve(["/picture"], on: stage, content: NotificationContent())
      #expect(delivery.content == nil)
      #expect(delivery.reason == .payloadAlert)
    }
  }

  @Test func `cancelling all breaks the downloads off`() async throws {
    try await withMedia { stage in
      let (fetcher, store) = (stage.fetcher, stage.store)
      let host = ServiceExtensionHost(clock: stage.clock, grace: .milliseconds(50)) { MediaExtension(fetcher: fetcher, store: store) }
      let payload = Payload(
        content: NotificationContent(body: "Hello"),
        references: ["/picture", "/stalled"].map { MediaReference(url: UntrustedText(stage.origin.url($0))) }, dialect: nil,
        splice: Splice(payload: 0..<2)
      )
      let request = NotificationRequest(identifier: "1", payload: payload, deadline: .now.advanced(by: .seconds(30)))
      async let delivery = host.run(request)
      await stage.origin.waitForStalls(count: 1, path: "/stalled")
      #expect(await stage.fetch("/picture").file != nil)
      host.cancelAll()
      #expect(await delivery.reason == .cancelled)
      #expect(await delivery.media.map(\.reason) == [nil, .cancelled])
      // The origin has sent 30 bytes of the second, and nobody knows how many of them have arrived.
      let bytes = await delivery.media.map(\.bytes)
      #expect(bytes.count == 2 && bytes[0] == Sample.png.count && 0...30 ~= bytes[1], "\(bytes)")
      await stage.origin.waitForConnections(open: 1)
      // The next payload is decided on arrival.
      let next = await host.run(request)
      #expect(next.reason == .cancelled)
      #expect(next.media.map(\.reason) == [.cancelled, .cancelled])
      #expect(next.media.map(\.url) == payload.references.map(\.url))
    }
  }

  @Test func `a payload that arrives too late names its media, and says what would never be fetched`() async throws {
    try await withMedia { stage in
      let clock = ManualClock()
      let delivery = await serve(["/picture", "no URL", "/song"], on: stage, clock: clock, maximum: 2, budget: .milliseconds(50))
      #expect(delivery.reason == .deadline)
      #expect(delivery.media.map(\.reason) == [.deadline, .deadline, .policyAttachments])
      #expect(stage.origin.requestCount() == 0)
    }
  }

  @Test func `an identifier is the payload's, or the same for the same URL`() async throws {
    try await withMedia { stage in
      let first = await serve(["/picture"], on: stage)
      let second = await serve(["/picture"], on: stage)
      let digits = Sample.sha256(Array(stage.origin.url("/picture").utf8)).prefix(16)
      #expect(first.content?.attachments.map(\.identifier) == [UntrustedText(String(digits))])
      #expect(second.content?.attachments == first.content?.attachments)
      release(first, stage.store)
      release(second, stage.store)
    }
  }
}
