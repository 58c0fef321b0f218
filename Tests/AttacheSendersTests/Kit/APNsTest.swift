import Attache
import AttacheQueue
import AttacheSenders
import AttacheTesting
import Glibc
import Testing
import Tripwire

/// A server, a sender, and the owner of the sender.
struct APNsTest {
  let server: PushServer
  let sender: APNsSender
  let recorder: AnswerRecorder

  /// Runs a test with a started sender, then ends both sides.
  static func run(
    _ server: PushServer, host: String = "127.0.0.1", clock: any QueueClock = SystemQueueClock(),
    tokens: ProviderTokenCheck = ProviderTokenCheck(),
    change: (inout APNsConfiguration) -> Void = { _ in }, _ body: (APNsTest) async throws -> Void
  ) async throws {
    Tripwire.pass(.v4(0x7F00_0001), port: UInt16(server.port))
    let key = try ProviderKey(SigningKey(pem: tokens.privateKeyPEM), keyID: tokens.keyID, teamID: tokens.teamID)
    var configuration = APNsConfiguration(endpoint: PushEndpoint(host: host, port: UInt16(server.port)), credentials: .key(key))
    configuration.rootCertificates = server.rootCertificatePEMFile
    configuration.topic = "com.example.app"
    configuration.tokenPath = JSONPointer("token")
    configuration.queueName = "sqlite:/push.db"
    configuration.clock = clock
    configuration.timeLimits.firstPause = .milliseconds(1)
    configuration.timeLimits.longestPause = .milliseconds(20)
    change(&configuration)
    let sender = try APNsSender(configuration)
    let recorder = AnswerRecorder()
    try sender.start(recorder)
    do {
      try await body(APNsTest(server: server, sender: sender, recorder: recorder))
    } catch {
      sender.cancel()
      sender.close()
      await server.stop()
      throw error
    }
    sender.cancel()
    sender.close()
    await server.stop()
  }

  /// Sends lines as payloads 1, 2 and so on, and waits for their answers.
  func answers(to lines: [String]) async -> [DeliveryAnswer] {
    sender.send(lines.enumerated().map { Self.delivery(Int64($0.offset + 1), $0.element) })
    await recorder.waitForAnswers(count: lines.count)
    return (1...Int64(lines.count)).compactMap { recorder.answers[$0]?.first }
  }

  static func delivery(_ number: Int64, _ line: String) -> Delivery {
    Delivery(
      token: LeaseToken(id: number, fence: 1), line: Array(line.utf8), outcome: .passthrough, reason: nil, attempt: 1, expiresAt: nil,
      deaths: 0,
      deathsAlone: 0)
  }

  /// A payload with its device token beside `aps`.
  static func line(_ number: Int = 0) -> String {
    let digits = String(number)
    return #"{"aps":{"alert":"hi"},"token":""# + String(repeating: "0", count: 64 - digits.count) + digits + "\"}\n"
  }
}
