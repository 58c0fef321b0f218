import AttacheTesting
import Glibc
import Testing

@testable import Attache

/// Third-party extensions in the filter, on the real clock.
@Suite(.timeLimit(.minutes(1)), .tags(.realTime)) struct ExtensionFilterTests {
  /// Lets a filter read 200 lines. `misbehave` handles the hundredth; all others are answered
  /// immediately.
  private func run(_ script: ScriptedExtension.Script) async throws -> FilterRun {
    let folder = AttachmentStoreTestFolder()
    let store = try folder.store()
    let picture = try store.add(Sample.png)
    let clock = try MonotonicClock()
    let attachment = Attachment(identifier: "1", file: picture, source: "here", options: AttachmentOptions())
    let host = ServiceExtensionHost(clock: clock, grace: .milliseconds(200)) {
      ScriptedExtension(
        .init(
          receive: { request, answer in
            guard request.identifier != "100" else { return try script.receive(request, answer) }
            var content = request.content
            content.attachments = [attachment]
            answer.offer(.content(content))
          }, expire: script.expire, cancel: script.cancel))
    }
    return try await FilterRun.over((1...200).map { _ in FilterRun.line() }, store: store, host: host, clock: clock) {
      $0.deadline = .milliseconds(800)
    }
  }

  private func check(_ run: FilterRun, reason: Reason) {
    for (index, record) in run.records.enumerated() {
      #expect(record.reason == (index == 99 ? reason.rawValue : nil))
      #expect((run.output[index] == run.input[index]) == (index == 99))
    }
    #expect(run.records.count == 200)
    #expect(run.late.isEmpty, "\(run.late.map(\.latenessMs))")
  }

  @Test func `one that blocks its thread for ever costs its own line alone`() async throws {
    let held = HeldThread()
    check(
      try await run(.init(receive: { _, _ in held.wait() }, expire: { _ in held.wait() }, cancel: { held.wait() })), reason: .deadline)
    for _ in 0..<3 { held.signal() }
  }

  @Test func `the second of two answers is dropped and counted`() async throws {
    let run = try await run(
      .init(receive: { request, answer in
        answer.offer(.original(.payloadAlert))
        answer.offer(.content(request.content))
      }))
    check(run, reason: .payloadAlert)
    #expect(run.result.summary.droppedOffers == 1)
  }

  @Test func `a changed line is written, and one that cannot be is written as it came`() async throws {
    let folder = AttachmentStoreTestFolder()
    let store = try folder.store()
    let clock = try MonotonicClock()
    let host = ServiceExtensionHost(clock: clock, grace: .milliseconds(200)) {
      ScriptedExtension(
        .init(receive: { request, answer in
          var content = request.content
          content.title = "X"
          content.badge = request.identifier == "2" ? -1 : nil
          answer.offer(.content(content))
        }))
    }
    let run = try await FilterRun.over((1...3).map { _ in FilterRun.line() }, store: store, host: host, clock: clock)
    let changed = #"{"aps":{"alert":{"title":"X","body":"Hello"},"mutable-content":1}}"#
    #expect(run.output == [changed, FilterRun.line(), changed])
    #expect(run.records.map(\.outcome) == ["attached", "fallback", "attached"])
    #expect(run.records.map(\.reason) == [nil, "extension.content", nil])
  }
}
