import Testing

@testable import Attache

/// Lines that already have the output member: they pass through, always with a reason.
struct BroughtMemberTests {
  private static let aps = #""aps":{"alert":"Hi","mutable-content":1}"#
  private static let string = #"{\"aps\":{\"alert\":\"Hi\",\"mutable-content\":1}}"#

  @Test(arguments: [
    #"{\#(aps),"attache":null}"#, #"{"attache":1,\#(aps)}"#, #"{"attache":1,\#(aps),"attache":2}"#, #"{\#(aps),"att\u0061che":1}"#,
    #"{"aps":{"content-available":1},"attache":1}"#, #"{"aps":{"alert":"Hi"},"attache":1}"#, #"{"aps":[],"attache":1}"#,
    #"{"aps":{"alert":"Hi","mutable-content":0},"\u0061\u0074\u0074\u0061\u0063\u0068\u0065":1}"#, #"{"attache":1}"#,
    // FCM
    #"{"attache":1,"message":{"apns":{"payload":{\#(aps)}}}}"#, #"{"message":{"attache":1,"apns":{"payload":{\#(aps)}}}}"#,
    #"{"message":{"apns":{"attache":1,"payload":{\#(aps)}}}}"#, #"{"message":{"apns":{"payload":{\#(aps),"attache":1}}}}"#,
    #"{"message":{"data":{"\u0061ttache":"1"},"apns":{"payload":{\#(aps)}}}}"#,
    #"{"message":{"data":{"attache":"1"},"data":{},"apns":{"payload":{\#(aps)}}}}"#,
    #"{"message":{"attache":1,"topic":"t","notification":{"title":"T"}}}"#, #"{"apns":{"payload":{\#(aps)}},"data":{"attache":"1"}}"#,
    // SNS
    #"{"attache":1,"APNS":"\#(string)"}"#, #"{"APNS":"{\"aps\":{},\"attache\":1}"}"#,
    #"{"APNS":"\#(string)","APNS_SANDBOX":"{\"attache\":1}"}"#, #"{"APNS":"\#(string)","APNS_VOIP":"{\"\\u0061ttache\":1}"}"#,
    #"{"APNS":"{\"attache\":1}","APNS":"\#(string)"}"#,
    #"{"MessageStructure":"json","Message":"{\"attache\":1,\"APNS\":\"{}\"}"}"#,
    #"{"MessageStructure":"json","Message":"{\"APNS\":\"{\\\"attache\\\":1}\"}","Message":"{\"APNS\":\"{\\\"aps\\\":{}}\"}"}"#,
    #"{"MessageStructure":"json","Message":"{\"attache\":1}","Message":"{\"APNS\":\"{\\\"aps\\\":{}}\"}"}"#,
    #"{"MessageStructure":"json","Message":"{\"APNS\":\"{\\\"attache\\\":1}\"}","Message":7}"#,
    #"{"message":{"apns":{"payload":{\#(aps)}}},"APNS":"{\"attache\":1}"}"#, #"{"APNS":"{\"attache\":1}","APNS":{}}"#,
    // gorush
    #"{"platform":1,"tokens":["t"],"message":"Hi","attache":1}"#, #"{"platform":1,"tokens":["t"],"message":"Hi","data":{"attache":1}}"#,
    #"{"platform":1,"tokens":["t"],"message":"Hi","data":{"attache":1},"data":{}}"#,
    #"{"notifications":[{"platform":1,"tokens":["t"],"message":"Hi"}],"attache":1}"#,
    #"{"notifications":[{"platform":1,"tokens":["t"],"message":"Hi","data":{"attache":1}}]}"#,
    #"{"Notifications":[{"platform":1,"tokens":["t"],"message":"Hi","data":{"attache":1}}]}"#,
    #"{"notifications":[{"platform":1,"tokens":["t"],"message":"Hi","DATA":{"attache":1}}]}"#,
    #"{"notifications":[{"platform":1,"tokens":["t"],"message":"Hi","data":{},"d\u0041ta":{"attache":1}}]}"#,
    #"{"platform":1,"tokens":["t"],"message":"Hi","Data":{"attache":1}}"#, #"{"NotificationS":{"attache":1}}"#,
    #"{"notificationſ":[{"data":{"attache":1}}]}"#,
    // OneSignal, Expo
    #"{"app_id":"a","contents":{"en":"Hi"},"attache":1}"#, #"{"app_id":"a","contents":{"en":"Hi"},"data":{"attache":1}}"#,
    #"{"to":"ExpoPushToken[x]","attache":1}"#, #"{"to":"ExpoPushToken[x]","data":{"attache":1}}"#,
    // One service's form beside another's
    #"{"message":{"x":1},"notifications":[{"tokens":["t"],"platform":1,"message":"Hi","data":{"attache":1}}]}"#,
    #"{"Message":"x","notifications":[{"tokens":["t"],"platform":1,"message":"Hi","data":{"attache":1}}]}"#,
    #"{"message":{},"app_id":"a","contents":{"en":"Hi"},"data":{"attache":1}}"#,
    #"{"message":{"token":"t","data":{"attache":1}}}"#,
    // Envelopes that cannot be opened, and one for other devices
    #"{"message":{"data":{"attache":{}},"apns":{"payload":"x"}}}"#, #"{"notifications":[{"tokens":["t"],"data":{"attache":1}}]}"#,
    #"{"notifications":[{"platform":2,"tokens":["t"],"data":{"attache":1}}]}"#, #"{"platform":2,"tokens":["t"],"data":{"attache":1}}"#,
  ])
  func `a line with the member has a reason`(line: String) {
    #expect(PayloadReader().read(line).reason == .payloadEnriched)
  }

  @Test(arguments: [
    #"{"p":{\#(aps),"attache":1}}"#, #"{"p":{\#(aps)},"attache":1}"#, #"{"p":"\#(string)","attache":1}"#, #"{"attache":1}"#,
    #"{"p":"{\"attache\":1}"}"#, #"{"p":[],"attache":1}"#, #"{"p":{"attache":1},"p":{\#(aps)}}"#,
    #"{"p":"{\"attache\":1}","p":"\#(string)"}"#, #"{"p":[{"attache":1}],"p":{\#(aps),"attache":1}}"#,
    #"{"p":{"attache":1},"\u0070":7}"#,
  ])
  func `a line with the member has a reason wherever its payload is`(line: String) {
    #expect(PayloadReader(payloadPath: JSONPointer("p")).read(line).reason == .payloadEnriched)
  }

  @Test(arguments: [
    #"{"a":{"p":{"attache":1}},"a":{"p":{\#(aps)}}}"#, #"{"a":{"p":[],"attache":1},"a":{"p":{\#(aps)}}}"#,
    #"{"a":"{\"p\":{\"attache\":1}}","a":{"p":{\#(aps)}}}"#, #"{"a":{"p":"{\"attache\":1}","p":{}},"a":{"p":{\#(aps)}}}"#,
    #"{"a":"{\"p\":{\"attache\":1},\"p\":{}}"}"#, #"{"a":{"attache":1},"a":{"p":"\#(string)"}}"#,
  ])
  func `each member of a name on the payload path is looked at`(line: String) {
    #expect(PayloadReader(payloadPath: JSONPointer("a", "p")).read(line).reason == .payloadEnriched)
  }

  @Test(arguments: [
    #"{"p":{"x":1},"p":{\#(aps)}}"#, #"{"p":{"x":{"attache":1}},"p":"\#(string)"}"#, #"{"p":"\#(string)","p":"\#(string)"}"#,
  ])
  func `a name that is there twice on the payload path keeps no payload from its media`(line: String) {
    #expect(PayloadReader(payloadPath: JSONPointer("p")).read(line).candidate != nil)
  }

  @Test func `a form that does not open leaves the line to the next`() {
    let line = #"{"message":{"x":1},"notifications":[{"tokens":["t"],"platform":1,"message":"Hi","mutable_content":true}]}"#
    #expect(PayloadReader().read(line).candidate != nil)
  }

  @Test func `one line's member says nothing of the next line`() {
    let reader = PayloadReader(payloadPath: JSONPointer("p"))
    #expect(reader.read(#"{"p":7,"attache":1}"#).reason == .payloadEnriched)
    #expect(reader.read(#"{"p":7}"#).withoutCause == .passthrough(.nothing, .payloadNoAlert))
    #expect(reader.read(#"{"p":{\#(Self.aps)}}"#).candidate != nil)
  }

  @Test(arguments: [
    #"{\#(aps),"Attache":1,"data":{"attache":1},"custom":{"attache":1}}"#, #"{\#(aps),"attache ":1,"attache\u0000":1}"#,
    #"{"message":{"android":{"attache":1},"apns":{"payload":{\#(aps),"x":{"attache":1}}}}}"#,
    #"{"GCM":"{\"attache\":1}","APNS":"\#(string)"}"#,
  ])
  func `another name, or another place, is no member of attache's`(line: String) {
    #expect(PayloadReader().read(line).candidate != nil)
  }
}
