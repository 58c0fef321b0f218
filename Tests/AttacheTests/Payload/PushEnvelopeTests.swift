import Testing

@testable import Attache

/// Payloads inside the envelopes of push services.
struct PushEnvelopeTests {
  private static let aps = #""aps":{"alert":"Hi","mutable-content":1}"#
  private static let inner = #"{\#(aps),"image":"https://a.example/1"}"#
  private static let mark = "<here>"

  /// Reads lines in which a mark shows where the member goes, with the text that is inserted there.
  private func expect(
    _ marked: String, takes insertion: String, urls: [String], _ form: Envelope.Form, mediaKeys: [JSONPointer] = [],
    location: SourceLocation = #_sourceLocation
  ) throws {
    let line = marked.replacing(Self.mark, with: "")
    let reader = PayloadReader(dialects: DialectTable(mediaKeys: mediaKeys))
    let payload = try #require(reader.read(line).candidate, sourceLocation: location)
    #expect(payload.urls == urls, sourceLocation: location)
    #expect(payload.enrich(line, with: #""k":"v""#) == marked.replacing(Self.mark, with: insertion), sourceLocation: location)
    #expect(LineOpener.opened(line)?.form == form, sourceLocation: location)
  }

  @Test(arguments: [
    (
      #"{"message":{"token":"t","apns":{"headers":{},"payload":{\#(aps),"image":"https://a.example/1"<here>} } },"x":1}"#,
      "https://a.example/1"
    ),
    (#"{"apns" : {"payload":{ "image":"https://a.example/1",\#(aps) <here>}},"token":"t"}"#, "https://a.example/1"),
    (
      #"{"message":{"notification":{"title":"T","body":"B","image":"https://a.example/n"},"apns":{"payload":{"aps":{"mutable-content":1}<here>}}}}"#,
      "https://a.example/n"
    ),
    (
      #"{"message":{"notification":{"image":"https://a.example/n"},"apns":{"fcm_options":{"image":"https://a.example/o"},"payload":{\#(aps)<here>}}}}"#,
      "https://a.example/o"
    ),
    (#"{"message":{"data":{"image":"https://a.example/d"},"apns":{"payload":{\#(aps)<here>}}}}"#, "https://a.example/d"),
    (
      #"{"message":{"data":{"im\u0061ge":"https://a.example/d"},"apns":{"payload":{\#(aps),"image":"https://a.example/1"<here>}}}}"#,
      "https://a.example/1"
    ),
  ])
  func `in a message of FCM the member goes into its payload`(line: String, url: String) throws {
    try expect(line, takes: #","k":"v""#, urls: [url], .fcm)
  }

  @Test func `FCM's own image is that of its dialect, and its words are shown where the payload has none`() throws {
    let line =
      #"{"message":{"notification":{"title":"T","body":"B","image":"https://a.example/n"},"apns":{"payload":{"aps":{"mutable-content":1}}}}}"#
    let payload = try #require(PayloadReader().read(line).candidate)
    #expect(payload.dialect == "firebase")
    #expect(payload.shown(of: line) == NotificationContent(title: "T", body: "B"))
    let own = line.replacing(#""mutable-content":1"#, with: #""mutable-content":1,"alert":"A""#)
    #expect(PayloadReader().read(own).candidate?.shown(of: own) == NotificationContent(body: "A"))
  }

  @Test(arguments: [
    #"{"message":{"token":"t","notification":{"title":"T","image":"https://a.example/n"}}}"#,
    #"{"message":{"apns":{"payload":{"aps":{"alert":"Hi"}}}}}"#, #"{"message":{"apns":{"payload":7}}}"#, #"{"message":{}}"#,
    #"{"message":{"token":"t","android":{"notification":{"image":"https://a.example/n"}}}}"#,
    #"{"APNS":"no JSON"}"#, #"{"APNS":"[]"}"#, #"{"APNS":7}"#, #"{"APNS":"{\"aps\":{\"alert\":\"Hi\"}}"}"#,
    #"{"Message":"{\"APNS\":\"{}\"}"}"#, #"{"Message":"no JSON","MessageStructure":"json"}"#,
    #"{"notifications":[{"platform":2,"tokens":["a"],"message":"Hi","mutable_content":true,"data":{"image":"https://a.example/1"}}]}"#,
    #"{"notifications":[],"platform":1}"#, #"{"platform":1,"message":"Hi","mutable_content":true}"#,
    #"{"to":"d1","title":"T","mutableContent":true,"richContent":{"image":"https://a.example/1"}}"#,
    #"{"to":"ExponentPushToken[x]","title":"T","mutableContent":true,"data":"x","richContent":{"image":"https://a.example/1"}}"#,
    #"{"app_id":"x","name":"y"}"#, #"{"to":"d1","notification":{"title":"T","image":"https://a.example/1"},"mutable_content":true}"#,
    #"{"registration_ids":["a"],"notification":{"image":"https://a.example/1"}}"#,
    #"{"app_id":"x","contents":{"en":"T"},"ios_attachments":"{\"id\":\"https://a.example/1\"}"}"#,
    #"{"app_id":"x","contents":{},"ios_attachments":{"id":"https://a.example/1"}}"#,
  ])
  func `what is no envelope, or asks for nothing, passes through`(line: String) {
    #expect(PayloadReader().read(line).kind != nil, "\(line)")
  }

  @Test func `each notification of a request of gorush has its own media and its own place`() throws {
    let start = #"{"platform":1,"tokens":["a"],"message":"Hi","mutable_content":true"#
    let marked =
      #"{"notifications":[\#(start),"data":{"image":"https://a.example/1"<1>}},{"platform":2,"tokens":["b"]},"#
      + #"\#(start),"image":"https://a.example/x"<2>} , \#(start.replacing("true", with: "false"))},"#
      + #"\#(start),"data":{"image":["https://a.example/3","https://a.example/4"],"\u0061":"}" <3>}}],"sync":true}"#
    let line = (1...3).reduce(marked) { $0.replacing("<\($1)>", with: "") }
    let payloads = PayloadReader().read(line).candidates
    #expect(payloads.map(\.urls) == [["https://a.example/1"], [], ["https://a.example/3", "https://a.example/4"]])
    let edits = payloads.enumerated().flatMap { $1.splice.edits(with: Array(#""k":\#($0 + 1)"#.utf8)) }
    let expected = marked.replacing("<1>", with: #","k":1"#).replacing("<2>", with: #","data":{"k":2}"#)
      .replacing("<3>", with: #","k":3"#)
    #expect(String(decoding: LineEdit.apply(edits, to: line.utf8), as: UTF8.self) == expected)
  }

  @Test func `the size of a notification counts neither its tokens nor the other notifications`() throws {
    let tokens = Array(repeating: #""0123456789abcdef""#, count: 1_000).joined(separator: ",")
    let one = #"{"platform":1,"tokens":[\#(tokens)],"message":"Hi","mutable_content":true,"data":{"image":"https://a.example/1"}}"#
    let payload = #"{"aps":{"alert":"Hi","mutable-content":1},"image":"https://a.example/1"}"#
    for line in [one, #"{"notifications":[\#(one)]}"#, #"{"notifications":[\#(one),\#(one)]}"#] {
      let sizes = PayloadReader().read(line).candidates.map { $0.splice.payloadLength(with: 5) }
      #expect(!sizes.isEmpty && sizes.allSatisfy { $0 == payload.utf8.count + 1 + 5 })
    }
  }

  @Test func `each message of Expo's array has its own media and its own place`() throws {
    let start = #"{"to":"ExponentPushToken[x]","title":"T","mutableContent":true"#
    let marked =
      #"[\#(start),"richContent":{"image":"https://a.example/1"}<1>}, {"to":["ExpoPushToken[y]"],"body":"B"} ,"#
      + #"\#(start),"data":{"a":[1] <2>},"richContent":{"image":"https://a.example/2"}}]"#
    let line = (1...2).reduce(marked) { $0.replacing("<\($1)>", with: "") }
    let payloads = PayloadReader().read(line).candidates
    #expect(payloads.map(\.urls) == [["https://a.example/1"], ["https://a.example/2"]])
    let edits = payloads.enumerated().flatMap { $1.splice.edits(with: Array(#""k":\#($0 + 1)"#.utf8)) }
    let expected = marked.replacing("<1>", with: #","data":{"k":1}"#).replacing("<2>", with: #","k":2"#)
    let written = String(decoding: LineEdit.apply(edits, to: line.utf8), as: UTF8.self)
    #expect(written == expected)
    #expect(PayloadReader(outputKey: "k").read(written).reason == .payloadEnriched)
    #expect(PushReader().read(Array(line.utf8)) == .several(3))
  }

  @Test func `an array of Expo has at most 100 messages`() {
    let one = #"{"to":"ExponentPushToken[x]","title":"T","mutableContent":true}"#
    func request(_ count: Int) -> String { "[\(Array(repeating: one, count: count).joined(separator: ","))]" }
    #expect(PayloadReader().read(request(100)).candidates.count == 100)
    #expect(PayloadReader().read("\u{FEFF} " + request(1) + " \r").candidates.count == 1)
    #expect(PayloadReader().read(request(101)).reason == .payloadEnvelope)
    #expect(PayloadReader(payloadPath: JSONPointer("0")).read(request(1)).reason == .payloadJSON)
  }

  @Test(arguments: ["7", #"{"to":"d1"}"#, #"{"aps":{"alert":"Hi"}}"#, "[7]", #"{"to":"ExponentPushToken[x]","data":7}"#])
  func `a message of Expo's array that cannot be opened holds no other back, and is named`(other: String) {
    let one = #"{"to":"ExponentPushToken[x]","title":"T","mutableContent":true}"#
    for (line, count) in [("[\(one),\(other)]", 1), ("[\(other),\(one),\(one)]", 2)] {
      let candidates = PayloadReader().read(line).candidates
      #expect(candidates.count == count)
      let place = line.hasPrefix("[{\"to\":\"ExponentPushToken[x]\",\"title\"") ? "/1" : "/0"
      #expect(candidates.first?.unopened?.path.string.hasPrefix(place) == true)
      #expect(candidates.dropFirst().allSatisfy { $0.unopened == nil })
      #expect(candidates.reasonToPass.reason == .payloadEnvelope)
    }
    let silent = #"{"to":"ExponentPushToken[x]","title":"T"}"#
    #expect(PayloadReader().read("[\(silent),\(other)]").reason == .payloadEnvelope)
    let enriched = #"{"to":"ExponentPushToken[x]","title":"T","mutableContent":true,"data":{"attache":1}}"#
    #expect(PayloadReader().read("[\(enriched),\(other)]").reason == .payloadEnriched)
  }

  @Test func `an array without a message of Expo is no request`() {
    #expect(PayloadReader().read(#"[7,{"to":"d1"}]"#).reason == .payloadJSON)
  }

  @Test(arguments: ["", #","data":{}"#])
  func `a member in an empty data has its comma counted, as it follows aps in what APNs gets`(data: String) throws {
    let line = #"{"platform":1,"tokens":["a"],"message":"Hi","mutable_content":true\#(data)}"#
    let payload = #"{"aps":{"alert":"Hi","mutable-content":1},"k":7}"#
    #expect(try #require(PayloadReader().read(line).candidate).splice.payloadLength(with: 5) == payload.utf8.count)
  }

  @Test func `a request of gorush has at most 100 notifications`() {
    let one = #"{"platform":1,"tokens":["a"],"message":"Hi","mutable_content":true}"#
    func request(_ count: Int) -> String { #"{"notifications":[\#(Array(repeating: one, count: count).joined(separator: ","))]}"# }
    #expect(PayloadReader().read(request(100)).candidates.count == 100)
    #expect(PayloadReader().read(request(101)).reason == .payloadEnvelope)
  }

  @Test(arguments: [
    #"{"notifications":[{"platform":2,"tokens":["a"]},{"platform":3,"tokens":["a"]}]}"#, #"{"platform":2,"tokens":["a"],"message":"Hi"}"#,
  ])
  func `a request for other devices has nothing to attach, and is no envelope that stays shut`(line: String) {
    #expect(PayloadReader().read(line) == .passthrough(.nothing, .payloadNoAlert))
  }

  @Test func `what several notifications say alike is said of the line`() {
    let line =
      #"{"notifications":[{"platform":1,"tokens":["a"],"priority":"high","expiration":5},{"platform":1,"tokens":["b"],"priority":"high"}]}"#
    let envelope = DeliveryReader().envelope(of: Array(line.utf8))
    #expect((envelope?.token, envelope?.priority, envelope?.expiration) == (nil, 10, nil))
    #expect(envelope?.notification == nil)
  }

  @Test func `in a message of SNS the member goes into the string`() throws {
    let (string, tail) = (JSONString.text(Self.inner.dropLast()), #"}","default":"Hi"}"#)
    try expect(
      #"{"GCM":"{}","APNS":"\#(string)<here>\#(tail)"#, takes: #",\"k\":\"v\""#, urls: ["https://a.example/1"], .sns)
    try expect(
      #"{"APNS_SANDBOX" :"\#(string)<here> \u007D ","default":"Hi"}"#.replacing("<here> ", with: " <here>"), takes: #",\"k\":\"v\""#,
      urls: ["https://a.example/1"], .sns)
  }

  @Test func `in a message that is a string itself it is escaped once more`() throws {
    let string = JSONString.text(JSONString.text(Self.inner.dropLast())[...])
    let line = #"{"TargetArn":"arn","Message":"{\"APNS\":\"\#(string)<here>}\",\"default\":\"Hi\"}","MessageStructure":"json"}"#
    try expect(line, takes: #",\\\"k\\\":\\\"v\\\""#, urls: ["https://a.example/1"], .sns)
  }

  @Test func `a sandbox that says the same has the member too, and one that says something else has not`() throws {
    let string = JSONString.text(Self.inner.dropLast())
    let other = string.replacing("Hi", with: #"\u0048i"#)
    try expect(
      #"{"APNS_SANDBOX":"\#(other)<here>}","APNS":"\#(string)<here>}"}"#, takes: #",\"k\":\"v\""#, urls: ["https://a.example/1"], .sns)
    try expect(
      #"{"APNS_SANDBOX":"\#(string)} ","APNS":"\#(string)<here>}"}"#, takes: #",\"k\":\"v\""#, urls: ["https://a.example/1"], .sns)
  }

  @Test(arguments: [
    (
      #"{"notifications":[{"platform":1,"tokens":["t"],"message":"Hi","mutable_content":true,"data":{"image":"https://a.example/1"<here>}}]}"#,
      #","k":"v""#
    ),
    (
      #"{"tokens":["t"],"platform":1,"alert":{"title":"T"},"mutable_content":true,"data":{ "image":"https://a.example/1" <here>},"x":1}"#,
      #","k":"v""#
    ),
  ])
  func `in a notification of gorush it goes into data`(line: String, insertion: String) throws {
    try expect(line, takes: insertion, urls: ["https://a.example/1"], .gorush)
  }

  @Test(arguments: [
    (#""message":"M""#, NotificationContent(body: "M")), (#""message":"M","title":"T""#, NotificationContent(title: "T", body: "M")),
    (#""message":"M","alert":{"title":"A"}"#, NotificationContent(title: "A")),
    (#""message":"M","title":"T","alert":{"subtitle":"S","body":"B"}"#, NotificationContent(title: "T", subtitle: "S", body: "B")),
    (#""message":"M","alert":{"title":""},"badge":3,"sound":"a.caf""#, NotificationContent(body: "M", badge: 3, sound: "a.caf")),
  ])
  func `gorush's members are shown as its own code has them`(members: String, content: NotificationContent) throws {
    let line = #"{"platform":1,"tokens":["t"],"mutable_content":true,\#(members),"data":{"image":"https://a.example/1"}}"#
    #expect(try #require(PayloadReader().read(line).candidate).shown(of: line) == content)
  }

  @Test func `in OneSignal's request it goes into data, which is made where there is none`() throws {
    let line = #"{"app_id":"x","contents":{"de":"Hallo","en":"Hi"},"ios_attachments":{"id":"https://a.example/1"}"#
    let key = [JSONPointer("att", "id")]
    try expect(line + "<here>}", takes: #","data":{"k":"v"}"#, urls: ["https://a.example/1"], .oneSignal, mediaKeys: key)
    try expect(line + #","data":{<here>}}"#, takes: #""k":"v""#, urls: ["https://a.example/1"], .oneSignal, mediaKeys: key)
    #expect(PayloadReader().read(line + "}").candidate?.content(of: line + "}").body == "Hi")
    #expect(PayloadReader().read(line + #","data":{"attache":1}}"#) == .passthrough(.alert, .payloadEnriched))
  }

  @Test func `in Expo's message it goes into data, which is made where there is none`() throws {
    let line = #"{"to":"ExponentPushToken[x]","title":"T","mutableContent":true,"richContent":{"image":"https://a.example/1"}"#
    let key = [JSONPointer("body", "_richContent", "image")]
    try expect(line + "<here>}", takes: #","data":{"k":"v"}"#, urls: ["https://a.example/1"], .expo, mediaKeys: key)
    try expect(line + #","data":{"a":1<here>}}"#, takes: #","k":"v""#, urls: ["https://a.example/1"], .expo, mediaKeys: key)
    #expect(PayloadReader().read(line + #","data":{"attache":1}}"#) == .passthrough(.alert, .payloadEnriched))
  }

  @Test func `a line with aps is no envelope, whatever else it has`() throws {
    let line = #"{\#(Self.aps),"message":{"apns":{"payload":{\#(Self.aps)}}},"APNS":"{}","to":"ExpoPushToken[x]"}"#
    #expect(LineOpener.opened(line) == nil)
    #expect(try #require(PayloadReader().read(line).candidate).splice.payload == 0..<line.utf8.count)
  }

  @Test func `the payload's length counts its own bytes unescaped`() throws {
    let line = #"{"APNS":"\#(JSONString.text(Self.inner[...]))"}"#
    #expect(try #require(PayloadReader().read(line).candidate).splice.payloadLength(with: 5) == Self.inner.utf8.count + 1 + 5)
  }

  @Test(
    arguments: [
      (
        #"{"message":{"token":"t","apns":{"headers":{"apns-priority":"5","apns-expiration":"1700000000","apns-push-type":"alert"},"payload":{"aps":{}}}}}"#,
        "t", 5, 1_700_000_000, "alert"
      ),
      (
        #"{"platform":1,"tokens":["t"],"priority":"high","expiration":1700000000,"push_type":"background"}"#, "t", 10, 1_700_000_000,
        "background"
      ),
      (#"{"to":["ExpoPushToken[x]"],"priority":"default"}"#, "ExpoPushToken[x]", 10, nil, nil),
      (#"{"to":["ExpoPushToken[x]","ExpoPushToken[y]"]}"#, nil, nil, nil, nil),
    ] as [(String, String?, Int?, Int?, String?)])
  func `an envelope tells what it says of the delivery`(line: String, token: String?, priority: Int?, expiration: Int?, type: String?)
    throws
  {
    let envelope = try #require(LineOpener.opened(line))
    #expect(
      envelope.token?.string == token && envelope.priority == priority && envelope.expiration == expiration
        && envelope.pushType?.string == type)
  }

  @Test(
    arguments: [
      ("1700000000", 1_700_000_000), ("1700000000500", 1_700_000_000.5), (#""2023-11-14T22:13:20Z""#, 1_700_000_000),
      (#""2023-11-14T23:13:20.5+01:00""#, 1_700_000_000.5), (#""2023-11-14 14:13:20 GMT-0800""#, 1_700_000_000), (#""soon""#, nil),
    ] as [(String, Double?)])
  func `a time is seconds, milliseconds or a date`(text: String, seconds: Double?) throws {
    #expect(try #require(LineOpener.opened(#"{"app_id":"x","contents":{},"send_after":\#(text)}"#)).time == seconds)
  }
}

extension LineOpener {
  /// The envelope of a line.
  static func opened(_ line: String) -> Envelope? {
    let opener = LineOpener(readsDelivery: true)
    let bytes = Array(line.utf8)
    let padded = bytes + [UInt8](repeating: 0, count: PayloadReader.padding)
    _ = unsafe padded.withUnsafeBytes { unsafe opener.open(UnsafeRawBufferPointer(rebasing: $0[..<bytes.count])) }
    return opener.envelope
  }
}

extension JSONString {
  /// A text, escaped for a string.
  static func text(_ text: Substring) -> String {
    String(decoding: escaped(Array(text.utf8)), as: UTF8.self)
  }
}
