import Attache
import Glibc
import Testing

@testable import AttacheTesting

@Suite(.timeLimit(.minutes(1)))
struct ConversationTests {
  /// Talks to a filter that runs on its own thread.
  private func converse(
    _ lines: [String], timeLimit: Duration = .seconds(30), endsWithLineFeed: Bool = true,
    with filter: @escaping @Sendable (_ input: Int32, _ output: Int32) -> Void
  ) async throws -> (end: Conversation.End, received: String, arrivals: Int) {
    let machine = SystemMachine()
    return try await withCheckedThrowingContinuation { continuation in
      // Its threads block SIGPIPE, like those of a run.
      try? machine.start("converse") {
        continuation.resume(
          with: Result {
            let (input, output) = (try DataPipe(), try DataPipe())
            let (inputEnd, outputEnd) = (input.takeRead(), output.takeWrite())
            try machine.start("filter") {
              filter(inputEnd, outputEnd)
              close(outputEnd)
              close(inputEnd)
            }.detach()
            let ends = PipePump.Ends(input: input.takeWrite(), output: output.takeRead())
            var conversation = Conversation(
              lines.map { Array($0.utf8) }, endsWithLineFeed: endsWithLineFeed, ends: ends, start: .now, progressed: {})
            let end = conversation.goOn(timeLimit: timeLimit)
            conversation.close()
            return (end, String(decoding: conversation.received, as: UTF8.self), conversation.arrivals.count)
          })
      }.detach()
    }
  }

  /// Copies until the input ends.
  private static let copy: @Sendable (Int32, Int32) -> Void = { input, output in
    var piece = [UInt8](repeating: 0, count: 1000)
    while true {
      let count = unsafe read(input, &piece, piece.count)
      guard count > 0, unsafe write(output, piece, count) == count else { return }
    }
  }

  @Test func `the input ends when every line is answered`() async throws {
    let lines = (0..<10_000).map { "line \($0)" }
    let (end, received, arrivals) = try await converse(lines, with: Self.copy)
    #expect(end == .closed && received == lines.map { $0 + "\n" }.joined() && arrivals == 10_000)
  }

  @Test func `a last line without an ending ends with the input`() async throws {
    let (end, received, _) = try await converse(["a", "b"], endsWithLineFeed: false, with: Self.copy)
    #expect(end == .closed && received == "a\nb")
  }

  @Test func `a filter that says nothing is not waited for`() async throws {
    let (end, received, _) = try await converse(["a"], timeLimit: .milliseconds(20)) { input, _ in
      var piece = [UInt8](repeating: 0, count: 1000)
      while unsafe read(input, &piece, piece.count) > 0 {}
    }
    #expect(end == .silence && received == "")
  }

  @Test func `a filter that ends early ends the conversation`() async throws {
    let (end, received, _) = try await converse(Array(repeating: "a", count: 100_000)) { input, output in
      _ = unsafe write(output, "bye", 3)
    }
    #expect(end == .closed && received == "bye")
  }
}
