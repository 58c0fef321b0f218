import AttacheTesting
import Glibc
import Testing

/// Empty and unusual inputs.
@Suite(.timeLimit(.minutes(1)))
struct InputTests {
  @Test func `an empty input gives an empty output and status 0`() async throws {
    let run = try await AttacheTool().run()
    #expect(run.exit == .status(0))
    #expect(run.output == [])
    #expect(run.errors.wholeMatch(of: /attache: 0 lines: 0 attached, 0 fallback, 0 passthrough, 0 invalid; \d+\.\d s\n/) != nil)
  }

  @Test func `an input that was closed before the start is an input error`() async throws {
    let run = try await AttacheTool().start { $0.input = .closed }.finished()
    #expect(run.exit == .status(74))
    #expect(run.output == [])
    #expect(run.errors.contains("standard input: "))
  }

  @Test func `a folder as input is an input error`() async throws {
    let run = try await AttacheTool().start { $0.input = .file("/") }.finished()
    #expect(run.exit == .status(74))
    #expect(run.errors.contains("standard input: "))
  }

  @Test func `a line of 10 MiB passes in constant memory with its reason`() async throws {
    let long =
      Array(#"{"aps":{"alert":"Hi","mutable-content":1},"long":""#.utf8) + [UInt8](repeating: 0x78, count: 10 << 20) + Array(#""}"#.utf8)
    let input = Array((Sample.plain + "\n").utf8) + long + Array(("\n" + Sample.plain).utf8)
    let tool = try AttacheTool()
    let program = try tool.start(["--report", tool.report])
    program.input.write(input + Array("\n".utf8))
    #expect(await program.lines(3).count == 3)
    // 30 MB is the memory of the tool without any line, in a debug build, and a third of the line.
    let peak = try #require(program.peakMemory)
    #expect(peak < 40_000_000 || Build.isSanitized)
    program.input.close()
    let run = await program.finished()
    #expect(run.exit == .status(0))
    #expect(isSame(run.output, input + Array("\n".utf8)))
    let records = try ReportLine.read(tool.report)
    #expect(records.map(\.outcome) == ["passthrough", "passthrough", "passthrough"])
    #expect(records.map(\.reason) == ["payload.not-mutable", "payload.size", "payload.not-mutable"])
  }

  @Test(arguments: [[], ["--unordered"], ["--window", "1"], ["--jobs", "1"]])
  func `long lines and short ones leave byte for byte in any window`(flags: [String]) async throws {
    var input: [UInt8] = []
    for size in [(1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3 << 20] {
      input += [UInt8](repeating: UInt8(ascii: "x"), count: size) + Array("\r\n\n\(Sample.plain)\n".utf8)
    }
    input += [UInt8](repeating: UInt8(ascii: "{"), count: 2 << 20)
    let run = try await AttacheTool().run(flags, input: input)
    #expect(run.exit == .status(0))
    #expect(isSame(run.output, input))
  }
}
