import AttacheTesting
import Testing

/// The deadline, and the order of the lines.
@Suite(.timeLimit(.minutes(1)))
struct TimeFlagTests {

  @Test func `without any time nothing is asked of the origin`() async throws {
    try await withOrigin { origin in
      origin.serve("/a", try Sample.medium("picture.png"))
      let line = Sample.payload(origin.url("/a"))
      let (run, records) = try await AttacheTool().reported(AttacheTool.loopback + ["--deadline", "0s"], input: line)
      #expect(run.text == line)
      #expect(records.map(\.reason) == ["deadline"])
      #expect(origin.connectionCount == 0)
    }
  }

  @Test(arguments: [false, true])
  func `lines leave in order, or as soon as they are decided`(isUnordered: Bool) async throws {
    try await withOrigin { origin in
      origin.serve("/slow", try Sample.medium("picture.png"), faults: [.stallBeforeHeaders])
      origin.serve("/fast", try Sample.medium("animation.gif"))
      let program = try AttacheTool().start(AttacheTool.loopback + (isUnordered ? ["--unordered"] : []))
      program.input.write(Sample.payload(origin.url("/slow")) + "\n" + Sample.payload(origin.url("/fast")) + "\n")
      await origin.waitForStalls(count: 1, path: "/slow")
      if isUnordered { #expect(await program.lines(1).allSatisfy { $0.contains("public.gif") || $0.contains("com.compuserve.gif") }) }
      origin.release("/slow")
      let sources = await program.lines(2).flatMap { Enriched.attachments($0).map(\.source) }
      #expect(sources == (isUnordered ? ["/fast", "/slow"] : ["/slow", "/fast"]).map { origin.url($0) })
      program.input.close()
      #expect(await program.exit() == .status(0))
    }
  }

  @Test(arguments: [([], Program.Exit.status(0)), (["--strict"], .status(65))])
  func `an invalid line leaves as it came, and strict says so at the end`(flags: [String], exit: Program.Exit) async throws {
    let input = "{}\nno JSON\n{}"
    let (run, records) = try await AttacheTool().reported(flags, input: input)
    #expect(run.exit == exit)
    #expect(run.text == input)
    #expect(records.map(\.outcome) == ["passthrough", "invalid", "passthrough"])
    #expect(records.map(\.reason) == ["payload.no-alert", "payload.json", "payload.no-alert"])
    #expect(run.errors.contains("1 invalid"))
  }

  @Test func `strict has nothing to say when no line is invalid`() async throws {
    #expect(try await AttacheTool().run(["--strict"], input: "{}\n\n{}").exit == .status(0))
  }
}
