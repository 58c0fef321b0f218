import Attache
import Testing

/// Which payloads wake a service extension, and what the others are.
struct CandidateTests {
  let reader = PayloadReader()

  @Test(arguments: ["1", "1.0", "1e0", "10e-1", "true"])
  func `mutable-content that is one makes a candidate`(flag: String) {
    #expect(reader.read(#"{"aps":{"alert":"Hi","mutable-content":\#(flag)}}"#).candidate != nil)
  }

  @Test(arguments: [#""1""#, "2", "0", "-1", "1.5", "false", "null", "[1]", "{}", #""true""#, "1.0000001"])
  func `mutable-content that is anything else makes none`(flag: String) {
    #expect(reader.read(#"{"aps":{"alert":"Hi","mutable-content":\#(flag)}}"#).withoutCause == .passthrough(.alert, .payloadNotMutable))
  }

  @Test(arguments: [
    #"{"aps":{"alert":"Hi"},"mutable-content":1}"#, #"{"aps":{"alert":{"body":"Hi","mutable-content":1}}}"#,
    #"{"data":{"aps":{"alert":"Hi","mutable-content":1}},"aps":{"alert":"Hi"}}"#, #"{"aps":{"alert":"Hi","Mutable-Content":1}}"#,
  ])
  func `mutable-content outside aps makes none`(line: String) {
    #expect(reader.read(line) == .passthrough(.alert, .payloadNotMutable))
  }

  @Test(arguments: [
    #""Hi""#, #"" ""#, #"{"title":"Hi"}"#, #"{"subtitle":"Hi"}"#, #"{"body":"Hi"}"#, #"{"title-loc-key":"HI"}"#,
    #"{"subtitle-loc-key":"HI"}"#,
    #"{"loc-key":"HI"}"#, #"{"title":"","body":"Hi"}"#, #"{"title":7,"body":"Hi"}"#,
  ])
  func `an alert with text is shown`(alert: String) {
    let line = #"{"aps":{"alert":\#(alert),"mutable-content":1}}"#
    #expect(reader.read(line).candidate?.content(of: line).hasAlertText == true)
    #expect(reader.read(#"{"aps":{"alert":\#(alert)}}"#) == .passthrough(.alert, .payloadNotMutable))
  }

  @Test(arguments: [
    #""""#, "{}", "null", "1", "true", #"["Hi"]"#, #"{"title":""}"#, #"{"title":null,"body":[]}"#, #"{"launch-image":"a.png"}"#,
    #"{"loc-args":["Hi"]}"#, #"{"action-loc-key":"HI"}"#, #"{"alert":{"body":"Hi"}}"#,
  ])
  func `an alert without text shows nothing`(alert: String) {
    #expect(reader.read(#"{"aps":{"alert":\#(alert),"mutable-content":1}}"#) == .passthrough(.nothing, .payloadNoAlert))
  }

  @Test(arguments: [
    (#"{"aps":{"content-available":1}}"#, PushKind.silent), (#"{"aps":{"content-available":true,"mutable-content":1}}"#, .silent),
    (#"{"aps":{"content-available":0}}"#, .nothing), (#"{"aps":{"content-available":"1"}}"#, .nothing),
    (#"{"aps":{"sound":"default"}}"#, .soundOrBadge), (#"{"aps":{"sound":{"name":"a.caf","critical":1}}}"#, .soundOrBadge),
    (#"{"aps":{"badge":0}}"#, .soundOrBadge), (#"{"aps":{"badge":3,"content-available":1}}"#, .soundOrBadge),
    (#"{"aps":{"sound":"","badge":"3"}}"#, .nothing), (#"{"aps":{"sound":{"volume":1}}}"#, .nothing), (#"{"aps":{}}"#, .nothing),
    (#"{"aps":"Hi"}"#, .nothing), ("{}", .nothing),
    (#"{"aps":{"alert":"Hi","content-available":1,"sound":"a"}}"#, .alert),
  ])
  func `every other payload has its kind`(line: String, kind: PushKind) {
    let reason: Reason = kind == .silent ? .payloadSilent : kind == .alert ? .payloadNotMutable : .payloadNoAlert
    #expect(reader.read(line) == .passthrough(kind, reason))
  }

  @Test func `an alert that also wakes the app is a candidate`() {
    #expect(reader.read(#"{"aps":{"alert":"Hi","content-available":1,"mutable-content":1}}"#).candidate != nil)
  }
}
