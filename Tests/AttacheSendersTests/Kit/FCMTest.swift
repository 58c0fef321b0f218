import Attache
import AttacheQueue
import AttacheSenders
import AttacheTesting
import Tripwire

/// A server with Google's protocol, a sender, and the owner of the sender.
struct FCMTest {
  let server: PushServer
  let sender: FCMSender
  let recorder: AnswerRecorder

  /// Runs a test with a started sender, then ends both sides.
  static func run(
    _ server: PushServer, _ account: GoogleAccount, clock: any QueueClock = SystemQueueClock(),
    change: (inout FCMConfiguration) throws -> Void = { _ in }, _ body: (FCMTest) async throws -> Void
  ) async throws {
    Tripwire.pass(.v4(0x7F00_0001), port: UInt16(server.port))
    // libcurl tries the second address of localhost when the first resets it.
    Tripwire.pass(.v6(1), port: UInt16(server.port))
    let key = try ServiceAccount(json: Array(account.keyFile(tokenURI: server.tokenURI).utf8))
    var configuration = FCMConfiguration(account: key)
    configuration.endpoint = PushEndpoint(host: "localhost", port: UInt16(server.port))
    configuration.rootCertificates = server.rootCertificatePEMFile
    configuration.clock = clock
    try change(&configuration)
    let sender = try FCMSender(configuration)
    let recorder = AnswerRecorder()
    sender.start(recorder)
    do {
      try await body(FCMTest(server: server, sender: sender, recorder: recorder))
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
    let earlier = recorder.answers.values.reduce(0) { $0 + $1.count }
    sender.send(lines.enumerated().map { APNsTest.delivery(Int64($0.offset + 1), $0.element) })
    await recorder.waitForAnswers(count: earlier + lines.count)
    return (1...Int64(lines.count)).compactMap { recorder.answers[$0]?.last }
  }

  /// A registration token.
  static func token(_ number: Int) -> String {
    let digits = String(number)
    return "device-\(String(repeating: "0", count: max(0, 20 - digits.count)))\(digits)"
  }

  /// A message to one device.
  static func line(_ number: Int = 0) -> String {
    #"{"message":{"token":"\#(token(number))","notification":{"title":"hi"}}}"# + "\n"
  }
}
