import Attache
import AttacheQueue
import Testing

@testable import AttacheSenders

/// Answers as Expo's and OneSignal's servers give them, made up after their documentation:
/// https://docs.expo.dev/push-notifications/sending-notifications and
/// https://documentation.onesignal.com/reference/create-notification
@Suite struct HTTPAnswerTests {
  private func rule(_ accepted: String, _ error: String? = nil, retried: [String] = []) throws -> HTTPAcceptance {
    var rule = HTTPAcceptance(accepted: try JSONPointer(pointer: accepted), error: try error.map(JSONPointer.init(pointer:)))
    rule.retried = retried
    return rule
  }

  private func answer(_ status: Int, _ body: String, _ rule: HTTPAcceptance? = nil) -> DeliveryAnswer {
    HTTPAnswer.of(HTTPReply(status: status, retryAfter: .seconds(7), body: Array(body.utf8)), rule, JSONParser())
  }

  @Test func `a status says whether the payload, or perhaps all, are refused`() {
    #expect(answer(204, "") == .delivered(status: "204"))
    for status in [408, 429, 500, 503, 599] { #expect(answer(status, "") == .retry(after: .seconds(7), reason: "status \(status)")) }
    for status in [409, 413, 422] { #expect(answer(status, "why") == .dropped(reason: "status \(status): why")) }
    for status in [301, 400, 401, 404, 600] {
      #expect(answer(status, "why\n") == .rejected(reason: "status \(status): \(PrintableText.of("why\n"))"))
    }
    let long = String(repeating: "x", count: 500)
    #expect(answer(400, long) == .rejected(reason: "status 400: " + PrintableText.of(String(long.prefix(200)))))
  }

  @Test func `tickets of Expo are read one by one`() throws {
    let expo = try rule("/data/*/id", "/data/*/details/error", retried: ["MessageRateExceeded"])
    let good = #"{"status":"ok","id":"a"}"#
    let gone = #"{"status":"error","message":"m","details":{"error":"DeviceNotRegistered"}}"#
    let busy = #"{"status":"error","message":"m","details":{"error":"MessageRateExceeded"}}"#
    func of(_ tickets: String...) -> DeliveryAnswer { answer(200, #"{"data":[\#(tickets.joined(separator: ","))]}"#, expo) }
    #expect(of(good, good) == .delivered(status: "200"))
    #expect(of(gone) == .dropped(reason: "status 200 with DeviceNotRegistered"))
    #expect(of(busy) == .retry(after: .seconds(7), reason: "status 200 with MessageRateExceeded"))
    #expect(of(gone, busy) == .retry(after: .seconds(7), reason: "status 200 with DeviceNotRegistered"))
    // What may pass is not tried again: the other message would be sent twice.
    #expect(
      of(good, gone, busy) == .partlyDelivered(status: "status 200, 2 of 3 refused: 2 DeviceNotRegistered, 3 MessageRateExceeded"))
    #expect(of(good, #"{"status":"error"}"#) == .partlyDelivered(status: "status 200, 1 of 2 refused: 2 no reason"))
    let many = Array(repeating: gone, count: 30).joined(separator: ",")
    guard case .partlyDelivered(let text) = of(good, many) else {
      Issue.record("30 of 31 are refused")
      return
    }
    #expect(text.hasPrefix("status 200, 30 of 31 refused: 2 Dev") && text.hasSuffix("21 DeviceNotRegistered, and 10 more"))
  }

  @Test func `OneSignal's identifier is empty when nobody gets the notification`() throws {
    let rule = try rule("/id", "/errors")
    #expect(answer(200, #"{"id":"b6b3","recipients":1}"#, rule) == .delivered(status: "200"))
    #expect(
      answer(200, #"{"id":"","errors":["All included players are not subscribed"]}"#, rule)
        == .dropped(reason: "status 200 with All included players are not subscribed"))
    #expect(
      answer(200, #"{"id":"b6b3","errors":{"invalid_player_ids":["x"]}}"#, rule)
        == .partlyDelivered(status: "status 200, 1 of 1 refused: invalid_player_ids"))
  }

  @Test func `each reason of a list may pass, and is compared byte by byte`() throws {
    let rule = try rule("/id", "/errors", retried: ["caf\u{E9}", "busy"])
    let list = (1...9).map { "\"e\($0)\"" }.joined(separator: ",")
    #expect(answer(200, #"{"errors":[\#(list),"busy"]}"#, rule) == .retry(after: .seconds(7), reason: "status 200 with e1, e2, e3"))
    #expect(answer(200, #"{"errors":["caf\u00e9"]}"#, rule) == .retry(after: .seconds(7), reason: "status 200 with caf\u{E9}"))
    #expect(answer(200, #"{"errors":["cafe\u0301"]}"#, rule) == .dropped(reason: "status 200 with \(PrintableText.of("cafe\u{301}"))"))
  }

  @Test func `a reason of all elements is read once`() throws {
    let elements = Array(repeating: "0", count: 100_000).joined(separator: ",")
    let members = (0..<50_000).map { "\"m\($0)\":0" }.joined(separator: ",")
    let body = #"{"x":[\#(elements)],\#(members),"why":"no"}"#
    #expect(answer(200, body, try rule("/x/*/id", "/why")) == .dropped(reason: "status 200 with no"))
  }

  @Test(arguments: ["", "<html>", "{}", "[]", #"{"id":null}"#, #"{"id":false}"#, #"{"id":0}"#, #"{"id":[]}"#, #"{"id":{}}"#, #"{"id":""}"#])
  func `a body that has neither the value nor an error may be that of a wrong endpoint`(body: String) throws {
    let text = body.isEmpty ? "the body is empty" : PrintableText.of(body)
    #expect(answer(200, body, try rule("/id", "/error")) == .rejected(reason: "status 200 without /id (--http-ok): \(text)"))
    #expect(answer(200, body, try rule("/x/*/id")) == .rejected(reason: "status 200 without /x/*/id (--http-ok): \(text)"))
  }

  @Test(arguments: [#"{"id":"a"}"#, #"{"id":1}"#, #"{"id":true}"#, #"{"id":[0]}"#, #"{"id":{"a":1}}"#])
  func `a value that is there is an acceptance`(body: String) throws {
    #expect(answer(200, body, try rule("/id")) == .delivered(status: "200"))
  }

  @Test func `a body that is too long to be read is never sent again`() throws {
    let body = #"{"id":"\#(String(repeating: "x", count: 1 << 20))"}"#
    #expect(answer(200, body, try rule("/id")) == .partlyDelivered(status: "status 200, not read: the body is longer than 1048576 bytes"))
  }

  @Test func `a service's text cannot write to a terminal`() throws {
    guard case .dropped(let reason) = answer(200, #"{"error":"a\u001b[2Jb\n"}"#, try rule("/id", "/error")) else {
      Issue.record("it is refused")
      return
    }
    #expect(!reason.unicodeScalars.contains { $0.value < 0x20 })
  }
}
