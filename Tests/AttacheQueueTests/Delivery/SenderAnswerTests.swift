import Attache
import Testing

@testable import AttacheQueue

/// The answers of a command.
struct SenderAnswerTests {
  private static func read(_ line: String) -> (id: Int64, answer: DeliveryAnswer)? {
    SenderAnswer.readObject(Array(line.utf8), DeliveryReader())
  }

  private static let good: [(line: String, id: Int64, answer: DeliveryAnswer)] = [
    (#"{"id":17,"answer":"ok"}"#, 17, .delivered()), (#" { "answer" : "ok" , "id" : 17 } "#, 17, .delivered()),
    ("{\"id\":17,\"answer\":\"ok\"}\r", 17, .delivered()),
    (#"{"id":17,"answer":"retry"}"#, 17, .retry(after: nil, reason: "retry")),
    (#"{"id":17,"answer":"retry 30s"}"#, 17, .retry(after: .seconds(30), reason: "retry 30s")),
    (#"{"id":17,"answer":"drop no such token"}"#, 17, .dropped(reason: "no such token")),
    (#"{"id":17,"answer":"drop"}"#, 17, .dropped(reason: "")),
    // Escapes.
    (#"{"id":17,"answer":"\u006fk"}"#, 17, .delivered()), (#"{"\u0069d":17,"answer":"ok"}"#, 17, .delivered()),
    (#"{"id":17,"answer":"drop \"a\\b\" \u00e9\ud83d\ude00"}"#, 17, .dropped(reason: #""a\b" é😀"#)),
    // A number without a result still parses; the sender then has no such result.
    (#"{"id":0,"answer":"ok"}"#, 0, .delivered()), (#"{"id":-1,"answer":"ok"}"#, -1, .delivered()),
    (#"{"id":9223372036854775807,"answer":"ok"}"#, .max, .delivered()),
    // Other members.
    (#"{"id":17,"answer":"ok","more":{"id":18,"answer":"retry"},"list":[1,2.5e3,null,true]}"#, 17, .delivered()),
    (#"{"id":17,"answer":"ok","more":"\#(String(repeating: "x", count: 5_000))"}"#, 17, .delivered()),
  ]

  @Test(arguments: good.indices)
  func `an object with a result's number and an answer is one`(index: Int) throws {
    let (line, id, answer) = Self.good[index]
    let read = try #require(Self.read(line), "\(line)")
    #expect(read.id == id && read.answer == answer, "\(line)")
  }

  @Test(arguments: [
    "", " ", "ok", "17", "null", "[]", "{}", #""ok""#, #"{"id":17}"#, #"{"answer":"ok"}"#, #"{"ID":17,"Answer":"ok"}"#,
    // The number.
    #"{"id":"17","answer":"ok"}"#, #"{"id":17.0,"answer":"ok"}"#, #"{"id":17.5,"answer":"ok"}"#, #"{"id":1e1,"answer":"ok"}"#,
    #"{"id":9223372036854775808,"answer":"ok"}"#, #"{"id":-9223372036854775809,"answer":"ok"}"#, #"{"id":1e400,"answer":"ok"}"#,
    #"{"id":true,"answer":"ok"}"#, #"{"id":null,"answer":"ok"}"#, #"{"id":[17],"answer":"ok"}"#, #"{"id":017,"answer":"ok"}"#,
    #"{"id":+17,"answer":"ok"}"#, #"{"id":"\u00ff17","answer":"ok"}"#,
    // The answer.
    #"{"id":17,"answer":""}"#, #"{"id":17,"answer":"OK"}"#, #"{"id":17,"answer":"ok "}"#, #"{"id":17,"answer":"retry soon"}"#,
    #"{"id":17,"answer":"retry -1s"}"#, #"{"id":17,"answer":"dropped"}"#, #"{"id":17,"answer":true}"#, #"{"id":17,"answer":null}"#,
    #"{"id":17,"answer":{"ok":true}}"#, #"{"id":17,"answer":["ok"]}"#,
    // Not JSON.
    #"{"id":17,"answer":"ok","x":1e91e}"#, #"{"id":17,"answer":"ok""#, #"{"id":17,"answer":"ok"} {}"#, #"{"id":17,"answer":"ok"}x"#,
    #"{"id":17,"answer":"ok",}"#, #"{'id':17,'answer':'ok'}"#, #"{"id":17,"answer":"ok","x":NaN}"#, #"{"id":17 "answer":"ok"}"#,
    #"{"id":17,"answer":"ok","x":"\x"}"#, "{\"id\":17,\"answer\":\"drop a\nb\"}",
  ])
  func `anything else is none`(line: String) {
    #expect(Self.read(line) == nil)
  }

  @Test func `bytes that are no UTF-8 are none`() {
    let line = Array(#"{"id":17,"answer":"ok","x":""#.utf8) + [0xFF] + Array(#""}"#.utf8)
    #expect(SenderAnswer.readObject(line, DeliveryReader()) == nil)
  }

  @Test(arguments: [
    (#"{"id":1,"id":2,"answer":"ok"}"#, 2, DeliveryAnswer.delivered()), (#"{"id":1,"answer":"retry","answer":"ok"}"#, 1, .delivered()),
  ])
  func `of members with one name the last counts`(line: String, id: Int64, answer: DeliveryAnswer) throws {
    let read = try #require(Self.read(line))
    #expect(read.id == id && read.answer == answer)
  }
}
