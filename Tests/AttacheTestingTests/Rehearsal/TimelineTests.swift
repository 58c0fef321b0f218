import Attache
import AttacheTesting
import Testing

@Suite(.timeLimit(.minutes(1)))
struct TimelineTests {
  private static let start = MonotonicInstant(nanoseconds: 1_000_000_000)

  private func instant(_ milliseconds: Int64) -> MonotonicInstant {
    Self.start.advanced(by: .milliseconds(milliseconds))
  }

  @Test func `moments are told in their order, counted from the start`() {
    let timeline = Timeline { Self.start }
    timeline.note(.origin, "second", at: instant(20))
    timeline.note(.dns, "first", at: instant(10))
    #expect(timeline.events == [.init(at: .milliseconds(10), .dns, "first"), .init(at: .milliseconds(20), .origin, "second")])
  }

  @Test func `pieces that are sent in a row are one moment`() {
    let timeline = Timeline { Self.start }
    for number in 0..<3 { timeline.note(.origin, sent: 100, of: "/a", at: instant(Int64(number))) }
    timeline.note(.origin, sent: 1, of: "/b", at: instant(5))
    #expect(timeline.events.map(\.text) == ["/a: 300 bytes sent in 3 pieces", "/b: 1 byte sent"])
  }

  @Test func `what is too much is counted`() {
    let timeline = Timeline { Self.start }
    for number in 0..<2500 { timeline.note(.origin, "\(number)", at: instant(Int64(number))) }
    #expect(timeline.events.count == 2001 && timeline.events.last?.text == "500 more events are not shown")
  }
}

@Suite(.timeLimit(.minutes(1)))
struct PlaceholdersTests {
  private let placeholders = Placeholders(origins: [
    "origin": .init(scheme: "http", port: 80), "cdn": .init(scheme: "https", port: 443),
  ])

  @Test(arguments: [
    ("{{origin}}/a", "http://127.0.0.1:80/a"), ("{{cdn}}/{{cdn.port}}", "https://127.0.0.1:443/443"), ("{{port}}{{n}}", "807"),
    ("{{pad 3}}|{{pad 0}}", "xxx|"), (#"{"a":{"b":{"c":"{{n}}"}}}"#, #"{"a":{"b":{"c":"7"}}}"#),
    ("{{other}} {{pad -1}} {{", "{{other}} {{pad -1}} {{"),
    (#"{{{n}}}"#, "{7}"),
  ])
  func `a placeholder is filled in, and nothing else`(_ text: String, _ filled: String) {
    #expect(placeholders.fill(text, number: 7) == filled)
  }

  @Test func `a number stays open where there is no payload`() {
    #expect(placeholders.fill("{{n}}") == "{{n}}")
  }

  @Test func `every time of a scenario is scaled`() {
    var scenario = PhotoScenario.make(steps: [OriginStep(.text("a"), at: .seconds(1), repetition: .forever, every: .seconds(3))])
    scenario.grace = .seconds(2)
    scenario.names = ["a": NameScript([.init(.none, delay: .seconds(4))])]
    scenario.stop = StopScript(at: .seconds(5), isCancellation: true)
    scenario.expectation.lateness = .seconds(6)
    let scaled = scenario.scaled(by: 0.5)
    let step = scaled.origins["origin"]?.paths["/photo.jpg"]?.responses[0][0]
    #expect(step?.at == .milliseconds(500) && step?.every == .milliseconds(1500) && scaled.deadline == .milliseconds(2500))
    #expect(scaled.grace == .seconds(1) && scaled.names["a"]?.turns[0].delay == .seconds(2))
    #expect(scaled.stop?.at == .milliseconds(2500) && scaled.expectation.lateness == .seconds(3))
  }
}
