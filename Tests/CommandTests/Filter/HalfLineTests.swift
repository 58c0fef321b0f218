import Glibc
import Testing

/// A signal that arrives when half of a line has been read.
@Suite(.timeLimit(.minutes(1)))
struct HalfLineTests {
  @Test func `filters that restart on one pipe lose no byte of it`() async throws {
    let pipe = try TestPipe()
    var lines: [String] = []
    var output = ""
    for round in 0..<12 {
      let program = try AttacheTool().start { $0.input = .descriptor(pipe.readEnd) }
      let (whole, half, next) = ("{\"n\":\(3 * round)}", "{\"n\":\(3 * round + 1)}", "{\"n\":\(3 * round + 2)}")
      lines += [whole, half, next]
      // One write, so that it is one read.
      pipe.write(whole + "\n" + half.prefix(4))
      _ = await program.lines(1)
      program.send(SIGTERM)
      await program.signalsAreTaken()
      // The text after the half line is left for the next filter.
      pipe.write(half.dropFirst(4) + "\n" + next + "\n")
      let run = await program.finished()
      #expect(run.exit == .status(75))
      let expected = round == 0 ? [whole, half] : [lines[3 * round - 1], whole, half]
      #expect(run.text == expected.map { $0 + "\n" }.joined())
      output += run.text
    }
    let last = try AttacheTool().start { $0.input = .descriptor(pipe.readEnd) }
    pipe.closeWriteEnd()
    let run = await last.finished()
    #expect(run.exit == .status(0))
    #expect(output + run.text == lines.map { $0 + "\n" }.joined())
  }

  @Test func `a half line whose end does not come by the deadline leaves as it came`() async throws {
    let program = try AttacheTool().start(["--deadline", "300ms"])
    program.input.write(Sample.plain + "\n{\"half")
    _ = await program.lines(1)
    program.send(SIGTERM)
    let run = await program.finished()
    #expect(run.exit == .status(75))
    #expect(run.text == Sample.plain + "\n{\"half")
  }

  @Test func `a second signal waits for the end of no line`() async throws {
    let program = try AttacheTool().start(["--deadline", "1h"])
    program.input.write(Sample.plain + "\n{\"half")
    _ = await program.lines(1)
    program.send(SIGTERM)
    // It says why it does not end.
    _ = await program.errors(holding: "; another signal writes their originals at once\n")
    program.send(SIGTERM)
    let run = await program.finished()
    #expect(run.exit == .status(75))
    #expect(run.text == Sample.plain + "\n{\"half")
  }

  @Test func `a long line that is half read is read to its end, and no further`() async throws {
    let pipe = try TestPipe()
    let program = try AttacheTool().start { $0.input = .descriptor(pipe.readEnd) }
    let long = "{\"text\":\"" + String(repeating: "x", count: 100_000)
    pipe.write(Sample.plain + "\n" + long)
    _ = await program.lines(1)
    program.send(SIGHUP)
    await program.signalsAreTaken()
    pipe.write("\"}\n" + Sample.plain + "\n")
    let run = await program.finished()
    #expect(run.exit == .status(75))
    #expect(run.text == Sample.plain + "\n" + long + "\"}\n")
    #expect(await pipe.readLine() == Sample.plain)
  }
}
