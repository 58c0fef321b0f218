import Attache
import AttacheTesting
import Foundation
import Testing

/// `attache record`: a live run becomes a scenario.
@Suite(.timeLimit(.minutes(1)))
struct RecordTests {
  @Test func `a run is written as a scenario, and the lines leave as from the filter`() async throws {
    try await withOrigin { origin in
      origin.serve("/a.png", try Sample.medium("picture.png"), faults: [.delay(.milliseconds(100))])
      origin.serve("/b.gif", try Sample.medium("animation.gif"), faults: [.stall(afterBytes: 100)])
      origin.serve("/c.jpg", Array("<html>".utf8))
      let lines = ["/a.png", "/b.gif", "/c.jpg"].map { Sample.payload(origin.url($0)) } + ["no JSON"]
      let tool = try AttacheTool()
      let file = tool.home["it.yaml"]
      try FileManager.default.createDirectory(atPath: tool.home["tmp"], withIntermediateDirectories: true)
      let run = try await tool.run(
        ["record", file] + AttacheTool.loopback + ["--deadline", "2s", "--jobs=8", "--unordered"], input: lines.joined(separator: "\n")
      ) { $0.environment["TMPDIR"] = tool.home["tmp"] }
      #expect(run.exit == .status(0))
      #expect(run.text.split(separator: "\n").count == 4)
      #expect(try FileManager.default.contentsOfDirectory(atPath: tool.home["tmp"]) == [])
      let scenario = try Scenario(contentsOfFile: file)
      #expect(scenario.payloads == lines.map { $0.replacing(origin.url(""), with: "{{origin}}") })
      #expect(!scenario.endsWithLineFeed)
      #expect(scenario.deadline == .seconds(2))
      #expect(scenario.flags == ["--jobs=8", "--unordered", "--cache", "session"])
      #expect(
        scenario.expectation.payloads.map(\.outcome) == [.attached, .fallback, .fallback, .invalid])
      #expect(scenario.expectation.payloads.map(\.reason) == [nil, .deadline, .typeUnsupported, .payloadJSON])
      #expect(scenario.expectation.requests == ["/a.png": 1, "/b.gif": 1, "/c.jpg": 1])
      let paths = try #require(scenario.origins["origin"]?.paths)
      let photo = try #require(paths["/a.png"]?.responses.first?.first)
      #expect(try #require(photo.at) >= .milliseconds(100))
      guard case .send(let medium, nil) = photo.action else { return #expect(Bool(false), "\(photo)") }
      #expect(medium.name == "stand-in-\(try Sample.medium("picture.png").count).png")
      #expect(paths["/b.gif"]?.responses.first?.last == OriginStep(.stall))
    }
  }

  @Test func `media are kept when that is wanted`() async throws {
    try await withOrigin { origin in
      let png = try Sample.medium("picture.png")
      origin.serve("/a.png", png)
      let tool = try AttacheTool()
      let run = try await tool.run(
        ["record", "--keep-media", tool.home["it.yaml"]] + AttacheTool.loopback, input: Sample.payload(origin.url("/a.png")) + "\n")
      #expect(run.exit == .status(0))
      #expect(try [UInt8](Data(contentsOf: URL(filePath: tool.home["it-media/1.png"]))) == png)
      let scenario = try Scenario(contentsOfFile: tool.home["it.yaml"])
      // Whether the response came in one piece depends on the machine.
      let steps = try #require(scenario.origins["origin"]?.paths["/a.png"]?.responses.first)
      #expect(steps.map(\.action) == [.send(Medium(name: "it-media/1.png", bytes: png), count: nil)])
    }
  }

  @Test func `a conversion is recorded with its result, and its scenario passes`() async throws {
    try await withOrigin { origin in
      origin.serve("/a.webp", try Sample.medium("photo.webp"))
      let tool = try AttacheTool()
      let run = try await tool.run(
        ["record", "--keep-media", tool.home["it.yaml"], "--convert"] + AttacheTool.loopback,
        input: Sample.payload(origin.url("/a.webp")) + "\n")
      #expect(run.exit == .status(0))
      let scenario = try Scenario(contentsOfFile: tool.home["it.yaml"])
      #expect(scenario.isReal)
      #expect(scenario.expectation.payloads.first?.attachments?.first?.size == Enriched.attachments(run.text).first?.size)
      let played = try await tool.run(["rehearse", tool.home["it.yaml"]])
      #expect(played.exit == .status(0), "\(played.text)")
    }
  }

  @Test func `SIGTERM ends the recording, and what was seen is written`() async throws {
    let tool = try AttacheTool()
    let program = try tool.start(["record", tool.home["it.yaml"]])
    program.input.write("{}\n")
    _ = await program.lines(1)
    program.send(SIGTERM)
    #expect(await program.exit() == .status(75))
    #expect(try Scenario(contentsOfFile: tool.home["it.yaml"]).payloads == ["{}"])
  }

  @Test func `a second signal cancels what is in flight, and what was seen is written`() async throws {
    try await withOrigin { origin in
      origin.serve("/a.png", [], faults: [.stallBeforeHeaders])
      let tool = try AttacheTool()
      let line = Sample.payload(origin.url("/a.png"))
      let program = try tool.start(["record", tool.home["it.yaml"]] + AttacheTool.loopback)
      program.input.write(line + "\n")
      await origin.waitForStalls(count: 1, path: "/a.png")
      program.send(SIGTERM)
      program.send(SIGINT)
      let run = await program.finished()
      #expect(run.exit == .status(75))
      #expect(run.text == line + "\n")
      #expect(try Scenario(contentsOfFile: tool.home["it.yaml"]).payloads.count == 1)
    }
  }

  @Test(arguments: [
    (["it.txt"], 64, "a scenario's name ends in .yaml"), ([], 64, "Missing expected argument"),
    (["it.yaml", "--jobs", "0"], 64, "--jobs must be at least 1"),
  ])
  func `wrong use says what to do`(arguments: [String], status: Int32, message: String) async throws {
    let run = try await AttacheTool().run(["record"] + arguments)
    #expect(run.exit == .status(status))
    #expect(run.errors.contains(message), "\(run.errors)")
  }

  @Test func `a scenario that cannot be written is said, and the lines have left`() async throws {
    let run = try await AttacheTool().run(["record", "/nonexistent/it.yaml"], input: "{}\n")
    #expect(run.exit == .status(74))
    #expect(run.text == "{}\n")
    #expect(run.errors.contains("/nonexistent/it.yaml") || run.errors.contains("it.yaml"), "\(run.errors)")
  }
}
