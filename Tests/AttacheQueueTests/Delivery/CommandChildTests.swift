import Attache
import Testing

@testable import AttacheQueue

/// Which results a command was given, and which it has not answered.
struct CommandChildTests {
  @Test("A result that is given anew is owed from then on, under its later lease")
  func givenAgain() throws {
    var configuration = CommandSender.Configuration(["sleep", "60"])
    configuration.usesEnvelopes = true
    let child = try CommandChild(configuration)
    defer { child.stop() }
    child.give([delivery(17, fence: 1)])
    child.give([delivery(17, fence: 2)])
    let (answers, end) = child.read()
    #expect(end == nil)
    #expect(answers.map(\.token) == [LeaseToken(id: 17, fence: 1)])
    #expect(child.unanswered.map(\.token) == [LeaseToken(id: 17, fence: 2)])
    #expect(child.due != nil)
  }

  private func delivery(_ id: Int64, fence: Int64) -> Delivery {
    Delivery(
      token: LeaseToken(id: id, fence: fence), line: Array("{}\n".utf8), outcome: .passthrough, reason: nil, attempt: 1, expiresAt: nil,
      deaths: 0,
      deathsAlone: 0)
  }
}
