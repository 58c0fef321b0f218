import Testing

@testable import Attache

/// Where the sender of a line wrote the values of its payloads.
struct WrittenPlacesTests {
  /// The places in the line of the strings that a payload has at `place`, for each payload of the line.
  private func places(of place: String, in line: String, path: JSONPointer? = nil) throws -> [String?] {
    let payloads = PayloadReader(payloadPath: path).read(line).candidates
    try #require(!payloads.isEmpty, "\(line)")
    let pointer = try JSONPointer(pointer: place)
    return payloads.map { $0.writtenPlace(of: pointer, in: Segment(line))?.description }
  }

  private static let aps = #""aps":{"alert":"Hi","mutable-content":1}"#
  private static let message = #""token":"t","apns":{"payload":{\#(aps)}}"#

  @Test(arguments: [
    (#"{\#(aps),"att":{"a/b":["x","y"]}}"#, "/att/a~1b/1", "/att/a~1b/1"),
    (#"  {"att":1,\#(aps),"att":{"id":"x"}}  "#, "/att/id", "/att/id"),
    (#"{"to":"ExponentPushToken[a]","body":"Hi","mutableContent":true,"richContent":"x"}"#, "/body/_richContent", "/richContent"),
    (#"{"to":"ExponentPushToken[a]","body":"Hi","mutableContent":true,"data":{"k":["x"]}}"#, "/body/k/0", "/data/k/0"),
    (#"{"message":{\#(message),"data":{"a":"x"}}}"#, "/a", "/message/data/a"),
    (#"{"message":{\#(message),"notification":{"image":"x"}}}"#, "/fcm_options/image", "/message/notification/image"),
    (
      #"{"token":"t","apns":{"payload":{\#(aps)},"fcmOptions":{"image":"x"}},"notification":{"image":"y"}}"#, "/fcm_options/image",
      "/apns/fcmOptions/image"
    ),
    (#"{"message":{\#(message)}}"#, "/aps/alert", "/message/apns/payload/aps/alert"),
    (#"{"app_id":"a","contents":{"de":"Hi"},"ios_attachments":{"i":"x"}}"#, "/att/i", "/ios_attachments/i"),
    (#"{"app_id":"a","contents":{"de":"Hi"},"data":{"i":"x"}}"#, "/custom/a/i", "/data/i"),
    (#"{"tokens":["t"],"platform":1,"message":"Hi","mutable_content":true,"data":{"att":"x"}}"#, "/att", "/data/att"),
    (#"{"tokens":["t"],"platform":1,"message":"Hi","mutable_content":true,"data":{"att":"x"}}"#, "/aps/alert", "/message"),
    (#"{"APNS":"{\"aps\":{\"alert\":\"Hi\",\"mutable-content\":1},\"att\":\"x\"}"}"#, "/att", "/APNS/att"),
    (
      #"{"MessageStructure":"json","Message":"{\"APNS\":\"{\\\"aps\\\":{\\\"alert\\\":\\\"Hi\\\",\\\"mutable-content\\\":1},\\\"att\\\":7}\"}"}"#,
      "/att", "/Message/APNS/att"
    ),
  ])
  func `a place of the payload leads to where its sender wrote the value`(line: String, place: String, written: String) throws {
    #expect(try places(of: place, in: line) == [written])
    #expect(try places(of: place, in: "\u{FEFF}" + line) == [written])
  }

  @Test func `each notification of a request has places of its own`() throws {
    let expo = #"[{"to":"ExpoPushToken[a]","body":"1","mutableContent":true,"richContent":{"image":"x"}},"#
    #expect(
      try places(
        of: "/body/_richContent/image",
        in: expo + #"{"to":"ExpoPushToken[b]","body":"2","mutableContent":true,"richContent":{"image":"x"}}]"#)
        == ["/0/richContent/image", "/1/richContent/image"])
    let gorush = #"{"tokens":["t"],"platform":1,"message":"Hi","mutable_content":true,"data":{"att":"x"}}"#
    #expect(
      try places(of: "/att", in: #"{"notifications":[{"tokens":["t"],"platform":2,"message":"Hi"},\#(gorush),\#(gorush)]}"#)
        == ["/notifications/1/data/att", "/notifications/2/data/att"])
  }

  @Test func `the path to the payload leads the place, through strings too`() throws {
    let path = JSONPointer("a", "0", "b")
    #expect(try places(of: "/att", in: #"{"a":[{"b":{\#(Self.aps),"att":"x"}}]}"#, path: path) == ["/a/0/b/att"])
    let inner = String(decoding: JSONString.escaped(Array(#"{"b":{\#(Self.aps),"att":"x"}}"#.utf8)), as: UTF8.self)
    #expect(try places(of: "/att", in: #"{"a":["\#(inner)"]}"#, path: path) == ["/a/0/b/att"])
  }

  @Test(arguments: [
    (#"{"to":"ExponentPushToken[a]","body":"Hi","mutableContent":true}"#, "/aps/mutable-content"),
    (#"{"app_id":"a","contents":{"de":"Hi"}}"#, "/custom/i"), (#"{\#(aps)}"#, "/att"), (#"{\#(aps),"a":["x"]}"#, "/a/1"),
  ])
  func `a value that the service adds, or that is missing, has none`(line: String, place: String) throws {
    #expect(try places(of: place, in: line) == [nil])
  }
}
