import Attache
import Foundation
import Testing

@testable import AttacheTesting

@Suite(.timeLimit(.minutes(1)))
struct VirtualRunTests {
  @Test
  func `a deadline of half a minute is kept to the nanosecond and takes no time`() async throws {
    var scenario = PhotoScenario.make(steps: [OriginStep(.stall)])
    (scenario.deadline, scenario.grace) = (.seconds(30), .seconds(1))
    let evidence = try await VirtualRun.run(scenario, seed: 1)
    #expect(evidence.report?.map(\.elapsed) == [.seconds(29)])
    #expect(evidence.report?.map(\.lateness) == [.seconds(-1)])
    #expect(evidence.arrivals == [.seconds(29)])
    #expect(evidence.elapsed < .seconds(10))
  }

  @Test
  func `the same seed is the same run`() async throws {
    let scenario = Self.crowd
    var stories: Set<[String]> = []
    for seed in UInt64(0)..<8 {
      let (first, second) = (try await VirtualRun.run(scenario, seed: seed), try await VirtualRun.run(scenario, seed: seed))
      #expect(Self.story(of: first) == Self.story(of: second))
      stories.insert(Self.story(of: first))
    }
    #expect(stories.count > 1)
  }

  @Test
  func `no seed breaks the promise`() async throws {
    for seed in UInt64(0)..<40 {
      let result = await ScenarioRunner(clock: .virtual, seed: seed).run(Self.crowd)
      #expect(result.findings.isEmpty, "seed \(seed)")
    }
  }

  @Test
  func `retries and redirects happen when the engine means them to`() async throws {
    var scenario = PhotoScenario.make()
    scenario.origins["origin"]?.paths["/photo.jpg"]?.responses = [
      [OriginStep(.status(503)), OriginStep(.header(name: "Retry-After", value: "2"))],
      [OriginStep(.redirect("{{origin}}/other"), at: .milliseconds(500))],
    ]
    scenario.origins["origin"]?.paths["/other"] = PathScript(responses: [[OriginStep(.send(PhotoScenario.photo, count: nil))]])
    let evidence = try await VirtualRun.run(scenario, seed: 3)
    #expect(evidence.requests == ["/photo.jpg": 2, "/other": 1])
    #expect(evidence.arrivals == [.milliseconds(2500)])
  }

  @Test
  func `the fields of the requests are compared`() async {
    var scenario = PhotoScenario.make()
    scenario.expectation.fields = ["host", "user-agent", "accept"]
    let runner = ScenarioRunner(clock: .virtual)
    #expect(await runner.run(scenario).findings == [])
    scenario.expectation.fields = ["host", "accept"]
    #expect(
      await runner.run(scenario).findings.map(\.description) == [
        "requests: expected only the fields [host, accept], also got [user-agent]"
      ])
  }

  @Test
  func `a resumed request has the fields of a resumption`() async throws {
    let half = OriginStep(.send(PhotoScenario.photo, count: 265))
    var scenario = PhotoScenario.make()
    scenario.origins["origin"]?.paths["/photo.jpg"]?.responses = [
      [
        OriginStep(.header(name: "ETag", value: "\"a\"")), OriginStep(.header(name: "Accept-Ranges", value: "bytes")), half,
        OriginStep(.reset),
      ],
      [OriginStep(.send(PhotoScenario.photo, count: nil))],
    ]
    #expect(try await VirtualRun.run(scenario, seed: 6).fields == ["host", "user-agent", "accept", "range", "if-range"])
  }

  @Test
  func `a stop and a cancellation come at their time`() async throws {
    var scenario = PhotoScenario.make(times: 2, steps: [OriginStep(.stall)])
    scenario.grace = .milliseconds(100)
    scenario.stop = StopScript(at: .seconds(1), isCancellation: false)
    let stopped = try await VirtualRun.run(scenario, seed: 4)
    #expect(stopped.exitStatus == 75)
    #expect(stopped.arrivals == [.milliseconds(4900), .milliseconds(4900)])
    scenario.stop = StopScript(at: .seconds(1), isCancellation: true)
    let cancelled = try await VirtualRun.run(scenario, seed: 4)
    #expect(cancelled.exitStatus == 75)
    #expect(cancelled.arrivals == [.seconds(1), .seconds(1)])
    scenario.origins["origin"]?.paths["/photo.jpg"] = PhotoScenario.make().origins["origin"]?.paths["/photo.jpg"]
    #expect(try await VirtualRun.run(scenario, seed: 4).exitStatus == 0)
  }

  @Test
  func `an extension that blocks for ever is no hang`() async throws {
    var scenario = PhotoScenario.make(times: 3)
    scenario.serviceExtension = .blocks
    let evidence = try await VirtualRun.run(scenario, seed: 5)
    #expect(!evidence.hung)
    #expect(evidence.report?.map(\.reason) == [.deadline, .deadline, .deadline])
  }

  /// Twelve lines for four files: one breaks off once, one drips and one stalls.
  private static let crowd = {
    let photo = PhotoScenario.photo
    var scenario = PhotoScenario.make()
    scenario.payloads = (0..<12).map { #"{"aps":{"alert":"Hi","mutable-content":1},"image":"{{origin}}/\#($0 % 4)","n":\#($0)}"# }
    scenario.origins["origin"]?.paths = [
      "/0": PathScript(responses: [[OriginStep(.send(photo, count: nil))]]),
      "/1": PathScript(responses: [[OriginStep(.send(photo, count: 100)), OriginStep(.reset)], [OriginStep(.send(photo, count: nil))]]),
      "/2": PathScript(responses: [[OriginStep(.send(photo, count: 5_000), repetition: .times(4), every: .milliseconds(100))]]),
      "/3": PathScript(responses: [[OriginStep(.stall)]]),
    ]
    scenario.flags = ["--unordered", "--jobs", "5"]
    return scenario
  }()

  /// Everything that a run shows except the path of its store.
  private static func story(of evidence: Evidence) -> [String] {
    let lines = evidence.outputLines.map { line in
      String(decoding: line, as: UTF8.self).replacing(/file:\/\/[^"]*\/store\//, with: "")
    }
    return lines + (evidence.report ?? []).map { "\($0)" }.map { $0.replacing(/file:\/\/[^"]*\/store\//, with: "") }
      + evidence.timeline.map { "\($0)" }
  }
}
