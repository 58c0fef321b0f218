import Testing

@testable import Attache

/// The frames that a process of a service extension sends. All of them are a stranger's.
@Suite struct ExtensionFrameTests {
  private func event(_ kind: UInt8, _ json: String) throws(FrameStream.Fault) -> ExtensionEvent {
    try ExtensionEvent(frame: ([kind] + Array(json.utf8))[...], check: JSONCheck(capacity: 1 << 16))
  }

  @Test func `an answer has its changes, its user info and its attachments`() throws {
    let json = """
      {"request":7,"call":1,"changes":{"title":"A\\u00e9","badge":null,"userInfo":{"a":[1, 2]}},"attachments":[{"identifier":"i","path":"/x.jpg",\
      "type":"public.jpeg","options":{"thumbnailHidden":true,"thumbnailTime":1.5,"thumbnailClippingRect":{"x":0,"y":0.5,"width":1,"height":0.5}}}]}
      """
    guard case .answer(7, call: 1, let answer) = try event(4, json) else { return #expect(Bool(false)) }
    #expect(answer.changes.map(\.name.string) == ["title", "badge"])
    #expect(answer.changes[0].text == "Aé" && answer.changes[1].source == nil)
    #expect(answer.userInfo == [MemberChange("a", Array("[1,2]".utf8))])
    let attachment = try #require(answer.attachments.first)
    #expect(attachment.path.string == "/x.jpg" && attachment.options.thumbnailHidden == true && attachment.options.thumbnailTime == 1.5)
    #expect(attachment.options.thumbnailClippingRect == ClippingRect(x: 0, y: 0.5, width: 1, height: 0.5))
  }

  @Test func `of several changes with one name the last counts, and none has a line feed`() throws {
    let json = #"{"request":1,"call":1,"changes":{"badge":1,"sound":{"name":"x",\#n"volume": 1},"badge":2},"attachments":[]}"#
    guard case .answer(1, call: 1, let answer) = try event(4, json) else { return #expect(Bool(false)) }
    #expect(answer.changes == [MemberChange("badge", Array("2".utf8)), MemberChange("sound", Array(#"{"name":"x","volume":1}"#.utf8))])
  }

  @Test func `an answer with more changes than a line can have is not used`() throws {
    for (count, isUsed) in [(256, true), (257, false)] {
      let members = (0..<count).map { #""m\#($0)":1"# }.joined(separator: ",")
      let event = try event(4, #"{"request":1,"call":1,"changes":{"userInfo":{\#(members)}},"attachments":[]}"#)
      if case .answer = event { #expect(isUsed) } else if case .unreadable(1, _) = event { #expect(!isUsed) } else { #expect(Bool(false)) }
    }
  }

  @Test func `a stranger's numbers and texts are bounded`() throws {
    let url = String(repeating: "u", count: 50_000)
    let json = #"{"transfer":3,"isEnd":true,"url":"\#(url)","status":-4,"type":"","bytes":-9,"code":0,"microseconds":1}"#
    guard case .transferEnded(_, let transfer) = try event(8, json) else { return #expect(Bool(false)) }
    #expect(transfer.status == 0 && transfer.bytes == 0 && transfer.url.utf8.count == 8_192)
  }

  @Test func `a transfer has its numbers`() throws {
    let json = #"{"transfer":3,"isEnd":true,"url":"http://a/","status":404,"type":"","bytes":9,"code":0,"microseconds":1}"#
    guard case .transferEnded(number: 3, let transfer) = try event(8, json) else { return #expect(Bool(false)) }
    #expect(transfer == ExtensionTransfer(url: UntrustedText("http://a/"), status: 404, type: UntrustedText(""), bytes: 9, code: 0))
  }

  @Test func `a download of a background session has its session, its task and its URL`() throws {
    guard case .background(let download) = try event(12, #"{"event":"started","session":"s","task":4,"url":"http://a/"}"#) else {
      return #expect(Bool(false))
    }
    #expect(download == BackgroundDownload(event: .started, session: "s", task: 4, url: "http://a/"))
  }

  @Test(arguments: [#"{"event":"ended","session":"s","task":4,"url":""}"#, #"{"event":"started","session":"s","task":"4","url":""}"#, "{}"])
  func `another event of a background session is invalid`(json: String) {
    #expect(throws: FrameStream.Fault.invalid) { _ = try event(12, json) }
  }

  @Test(arguments: [
    (1, "{}"), (1, #"{"version":"1","class":"A"}"#), (2, #"{"request":-1}"#), (2, #"{"request":1.5}"#), (2, #"{"request":1e3}"#),
    (2, #"{"request":99999999999999999999}"#), (2, ""), (2, "{"), (2, "7"), (2, "[]"), (2, "null"),
    (6, #"{"request":1,"isAlive":1,"isChangedAfter":false}"#),
    (4, #"{"request":1,"call":1,"changes":[],"attachments":[]}"#), (4, #"{"request":1,"call":1,"changes":{},"attachments":[{}]}"#),
    (
      4,
      #"{"request":1,"call":1,"changes":{},"attachments":[{"identifier":"","path":"","type":"","options":{"thumbnailClippingRect":{"x":9}}}]}"#
    ),
    (8, #"{"transfer":1,"isEnd":true,"url":"a"}"#), (0, "{}"), (10, "{}"), (11, "{}"), (255, "{}"),
  ])
  func `anything else is invalid`(kind: UInt8, json: String) {
    #expect(throws: FrameStream.Fault.invalid) { _ = try event(kind, json) }
  }

  @Test func `an empty frame is invalid`() {
    #expect(throws: FrameStream.Fault.invalid) { _ = try ExtensionEvent(frame: [], check: JSONCheck(capacity: 64)) }
  }

  @Test func `a request has its number, its identifier and its payload`() {
    var bytes: [UInt8] = []
    FrameStream.append(to: &bytes) {
      ExtensionFrame.appendRequest(258, isReused: true, identifier: "ab", payload: Array("{}".utf8), to: &$0)
    }
    #expect(bytes == [16, 0, 0, 0, 2, 2, 1, 0, 0, 0, 0, 0, 0, 1, 2, 0, 97, 98, 123, 125])
  }

  @Test(arguments: [
    (#"{"a":1.10,"b":"\u0041"}"#, #"{"a":1.1,"b":"A","c":2}"#, #"{"a":1.10,"b":"\u0041","c":2}"#),
    (#"{"a":1.10,"b":{"c":1e2,"d":1}}"#, #"{"b":{"d":2,"c":100},"a":1.1}"#, #"{"a":1.10,"b":{"c":1e2,"d":2}}"#),
    (#"{"a":1,"b":2}"#, #"{"b":2}"#, #"{"b":2}"#), (#"[1.0,2]"#, #"[1,2]"#, #"[1.0,2]"#), (#"[1.0,2]"#, #"[1,3]"#, #"[1,3]"#),
    ("7", "{}", "{}"), ("1.10", "1.1", "1.10"), (#"{"a":true}"#, #"{"a":1}"#, #"{"a":1}"#),
    (#"{"a":null}"#, #"{"a":false}"#, #"{"a":false}"#),
    (#"{"a":1,"a":2.0}"#, #"{"a":2}"#, #"{"a":2,"a":2.0}"#),
  ])
  func `a changed value keeps the bytes of what is equal`(old: String, new: String, merged: String) {
    let bytes = JSONText(Array(old.utf8)).merged(with: JSONText(Array(new.utf8)))
    #expect(String(decoding: bytes, as: UTF8.self) == merged)
  }
}
