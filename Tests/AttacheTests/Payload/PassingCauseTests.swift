import Testing

@testable import Attache

/// What the log and the report say about a line that wakes no service extension.
struct PassingCauseTests {
  private func text(of line: String, path: JSONPointer? = nil) -> String? {
    guard case .passthrough(_, _, let cause) = PayloadReader(payloadPath: path).read(line) else { return nil }
    return cause?.text
  }

  @Test(
    arguments: [
      (" \t", "the line is blank"),
      (#"{"to":"ExponentPushToken[a]","title":"Hi"}"#, #"write "mutableContent": true into the message"#),
      (#"{"notifications":[{"platform":1,"tokens":["a"],"message":"Hi"}]}"#, #"write "mutable_content": true into the notification"#),
      (#"{"message":{"notification":{"body":"Hi"},"apns":{"payload":{"aps":{}}}}}"#, #"write "mutable-content": 1 into apns.payload.aps"#),
      (#"{"message":{"token":"t","data":{"title":"Hi"},"apns":{"payload":{"aps":{}}}}}"#, "the message has no text in notification"),
      (#"{"to":"ExponentPushToken[a]","mutableContent":true}"#, "neither title nor body"),
      (#"{"interests":["a"],"apns":{"aps":{"alert":"Hi","mutable-content":1}}}"#, "the object at /apns has one; --payload-path"),
      (#"{"deviceToken":"a","x":{"payload":{"aps":{"alert":"Hi"}}}}"#, "the object at /x/payload has one; --payload-path"),
      (#"{"payload":"{\"aps\":{\"alert\":\"Hi\"}}"}"#, "the object at /payload has one; --payload-path"),
      (#"{"message":{"token":"t","data":{"title":"Hi","image":"https://a.example/1"}}}"#, "a data-only message of FCM"),
      (#"{"topic":"news","data":{"title":"Hi"}}"#, "a data-only message of FCM"),
      (#"{"alert":"Hi","mutable-content":1}"#, "no aps and is no request that attache reads"),
      (#"{"a":{"b":{"c":{"d":{"aps":{}}}}}}"#, "no aps and is no request that attache reads"),
      (#"{"external_user_ids":["a"],"messages":{"apple_push":{"alert":"Hi"}}}"#, "no aps and is no request that attache reads"),
      (#"{"audience":"all","notification":{"ios":{"alert":"Hi"}},"device_types":["ios"]}"#, "--payload-path names the place of a payload"),
      (#"{"aps":{"event":"update","content-state":{"a":1}}}"#, "a push for a Live Activity"),
      (#"{"aps":{"event":"end","content-state":{},"alert":{"title":"Hi"},"mutable-content":1}}"#, "a push for a Live Activity"),
      (#"{"aps":{"alert":"Hi","mutable-content":"1"}}"#, "is not the number 1"),
      (#"{"aps":{"alert":"Hi","mutableContent":true}}"#, "Apple does not know “mutableContent”"),
      (#"{"aps":{"alert":"Hi","mutable_content":1}}"#, "Apple does not know “mutable_content”"),
    ])
  func `what is wrong is named, with the remedy of its service`(line: String, expected: String) throws {
    let cause = try #require(text(of: line))
    #expect(cause.contains(expected), "\(cause)")
    #expect(cause.unicodeScalars.allSatisfy(PrintableText.isPrintable))
  }

  @Test(
    arguments: [
      #"{"aps":{"alert":"Hi"}}"#, #"{"aps":{"alert":"Hi","mutable-content":0}}"#, #"{"aps":{"alert":"Hi","mutable-content":false}}"#,
      #"{"aps":{"content-available":1}}"#, #"{"aps":{"badge":1}}"#, #"{}"#, #"{"aps":{}}"#,
      #"{"mdm":"magic"}"#,
    ])
  func `a payload that asks for nothing has no cause`(line: String) {
    #expect(text(of: line) == nil)
  }

  @Test func `a place without a payload is named`() throws {
    let cause = try #require(text(of: #"{"body":{"aps":{}}}"#, path: JSONPointer("payload")))
    #expect(cause.hasPrefix("--payload-path /payload leads to no object in the line"))
  }
}
