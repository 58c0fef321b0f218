import Attache
import Testing

@testable import AttacheSenders

/// What an answer of Google means.
@Suite(.timeLimit(.minutes(1)))
struct FCMVerdictTests {
  private func reply(_ status: Int, _ body: String) -> FCMReply {
    FCMReply(HTTPReply(status: status, body: Array(body.utf8)), JSONParser())
  }

  private func error(_ details: String, status: String = "INVALID_ARGUMENT") -> String {
    #"{"error":{"code":400,"message":"words","status":"\#(status)","details":[\#(details)]}}"#
  }

  private static let fcm = #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"INVALID_ARGUMENT"}"#

  @Test func `the error code of a detail decides, not the status`() {
    let unregistered = #"{"@type":"x","errorCode":"UNREGISTERED"}"#
    for status in [400, 404, 410, 500] {
      #expect(FCMVerdict.of(reply(status, error("{},\(unregistered)"))).consequence == .invalidToken)
    }
    // A 404 without it is of the path, such as for a project that does not exist.
    #expect(FCMVerdict.of(reply(404, error("", status: "NOT_FOUND"))).consequence == .rejected)
  }

  @Test func `an invalid argument is the token's fault only if a detail names the token`() {
    #expect(FCMVerdict.of(reply(400, error(Self.fcm))).consequence == .dropped)
    func violation(_ field: String) -> String { #"{"@type":"y","fieldViolations":[{"field":"\#(field)","description":"d"}]}"# }
    #expect(FCMVerdict.of(reply(400, error("\(Self.fcm),\(violation("message.token"))"))).consequence == .invalidToken)
    #expect(FCMVerdict.of(reply(400, error("\(violation("message.token")),\(Self.fcm)"))).consequence == .invalidToken)
    #expect(FCMVerdict.of(reply(400, error("\(Self.fcm),\(violation("message.data"))"))).consequence == .dropped)
    #expect(FCMVerdict.of(reply(400, error(violation("message.topic")))).consequence == .dropped)
  }

  @Test func `an answer names the code, what it means, Google's words and what to do`() {
    let text = FCMVerdict.of(reply(400, error(Self.fcm))).text(of: reply(400, error(Self.fcm)))
    #expect(text.hasPrefix("400 INVALID_ARGUMENT: a member of the message is invalid (words); check the message"))
    let accepted = reply(200, #"{"name":"projects/p/messages/1"}"#)
    #expect(FCMVerdict.of(accepted).text(of: accepted) == "200: Google has accepted the message")
  }

  @Test func `an answer from a stranger is one printable line`() {
    let hostile = reply(
      400, #"{"error":{"message":"a\u001b[31m\nb","status":"X Y","details":[{"errorCode":"A\nB"},7,null,{"fieldViolations":7}]}}"#)
    #expect(hostile.errorCode == nil && hostile.statusName == nil)
    #expect(!FCMVerdict.of(hostile).text(of: hostile).utf8.contains { $0 < 0x20 })
    for body in ["", "[", "7", "null", "{\"error\":7}", "{\"error\":[]}", #"{"error":{"details":{}}}"#, "{\"name\":7}"] {
      for status in [200, 204, 301, 400, 404, 429, 503, 999] { _ = FCMVerdict.of(reply(status, body)).text(of: reply(status, body)) }
    }
  }

  // MARK: - Tokens of another project

  @Test func `three different tokens in a row are nobody's fault until a message is accepted`() {
    var mismatches = SenderMismatches()
    #expect(mismatches.note(1, "a") == .doubted)
    #expect(mismatches.note(2, "a") == .doubted)
    #expect(mismatches.note(2, "b") == .doubted)
    #expect(mismatches.note(3, "c") == .ofAll)
    #expect(mismatches.note(4, "d") == .ofAll)
    mismatches.noteAcceptance()
    #expect(mismatches.note(1, "a") == .doubted)
    mismatches.noteAcceptance()
    #expect(mismatches.note(1, "a") == .atFault)
    #expect(mismatches.note(9, "a") == .atFault)
    #expect(mismatches.note(2, "b") == .doubted)
  }

  @Test func `a token that is rejected twice while others were accepted before is at fault`() {
    var mismatches = SenderMismatches()
    #expect(mismatches.note(1, "a") == .doubted)
    #expect(mismatches.note(1, "a") == .doubted)
    mismatches.noteAcceptance()
    #expect(mismatches.note(2, "b") == .doubted)
    #expect(mismatches.note(2, "b") == .atFault)
  }

  @Test func `an error that is about the project drops nothing`() {
    let error = reply(400, #"{"error":{"code":400,"status":"FAILED_PRECONDITION","message":"Precondition check failed."}}"#)
    #expect(FCMVerdict.of(error).consequence == .rejected)
    let message = reply(400, #"{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"Invalid value"}}"#)
    #expect(FCMVerdict.of(message).consequence == .dropped)
  }
}
