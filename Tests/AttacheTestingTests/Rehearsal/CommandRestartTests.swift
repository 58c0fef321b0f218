import Testing

@testable import AttacheTesting

/// What two runs of a killed command must write together.
struct CommandRestartTests {
  private static let lines = (1...3).map { Array("{\"n\":\($0)}".utf8) }

  private func restart(_ firstOutput: String, endsWithLineFeed: Bool = true) -> CommandRestart {
    CommandRestart(point: .fed, input: Self.lines, endsWithLineFeed: endsWithLineFeed, firstOutput: Array(firstOutput.utf8))
  }

  private func kinds(_ restart: CommandRestart, _ secondOutput: String) -> [Finding.Kind] {
    restart.findings(secondOutput: Array(secondOutput.utf8)).map(\.kind)
  }

  @Test func `what has a whole line is answered`() {
    #expect(restart("").unanswered == [0, 1, 2])
    #expect(restart("{\"n\":2}\n{\"n\":1,\"attache\":{}}\n").unanswered == [2])
    #expect(restart("{\"n\":1}\n{\"n\":2}").unanswered == [1, 2])
  }

  @Test func `a last line without ending is whole when the input has none`() {
    #expect(restart("{\"n\":3}", endsWithLineFeed: false).unanswered == [0, 1])
    #expect(restart("{\"n\":2}", endsWithLineFeed: false).unanswered == [0, 1, 2])
  }

  @Test func `lines may come again, in any order`() {
    #expect(kinds(restart("{\"n\":2}\n"), "{\"n\":3}\n{\"n\":1}\n{\"n\":2}\n") == [])
  }

  @Test func `a line that neither run wrote is lost`() {
    #expect(kinds(restart("{\"n\":2}\n"), "{\"n\":3}\n") == [.lost])
  }

  @Test func `a line that breaks off is torn, although the second run writes it whole`() {
    #expect(kinds(restart("{\"n\":1}\n{\"n\""), "{\"n\":2}\n{\"n\":3}\n") == [.torn])
  }

  @Test(arguments: ["start", "fed", "request:1", "request:12", "sent:3", "line:2"])
  func `a point is read as it is written`(text: String) {
    #expect(CommandKillPoint(text)?.description == text)
  }

  @Test(arguments: ["", "line:", "line:0", "line:-1", "line:x", "start:1", "fed:2", "noon", "line:1:2"])
  func `what is no point is refused`(text: String) {
    #expect(CommandKillPoint(text) == nil)
  }
}
