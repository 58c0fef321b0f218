import Testing

@testable import Attache
@testable import AttacheInspection

/// Envelopes that attache recognises but cannot open.
struct UnopenedEnvelopeTests {
  private static let notification = #"{"tokens":["t"],"platform":1,"message":"Hi"}"#
  private static let rows: [(line: String, form: Envelope.Form, path: String, why: String)] = [
    (
      #"{"notifications":[\#(Array(repeating: notification, count: 101).joined(separator: ","))]}"#, .gorush, "/notifications",
      "the request has 101 notifications, but gorush accepts 100: write the others in another request"
    ),
    (
      #"{"notifications":[\#(notification),7]}"#, .gorush, "/notifications/1",
      "/notifications/1 is the number 7, but gorush accepts only dictionaries: remove it"
    ),
    (
      #"{"notifications":[{"platform":2},\#(notification),{"platform":1,"data":"x"}]}"#, .gorush, "/notifications/2/data",
      "/notifications/2/data is a string, but attachments need a dictionary there: make it one, or remove it"
    ),
    (
      #"{"notifications":[{"tokens":["t"],"platform":2,"message":"Hi"}]}"#, .gorush, "/notifications/0/platform",
      "platform is the number 2, but Apple's is the number 1: remove notifications for other devices"
    ),
    (
      #"{"tokens":["t"],"platform":2,"message":"Hi"}"#, .gorush, "/platform",
      "platform is the number 2, but Apple's is the number 1: remove notifications for other devices"
    ),
    (
      #"{"notifications":[{"tokens":["t"],"message":"Hi"}]}"#, .gorush, "/notifications/0",
      "platform is missing, but Apple's is the number 1: remove notifications for other devices"
    ),
    (
      #"{"token":"t","platform":1,"message":"Hi","data":null}"#, .gorush, "/data",
      "data is null, but attachments need a dictionary there: make it one, or remove it"
    ),
    (
      #"{"notifications":[{"token":"t","platform":1,"data":"x"}]}"#, .gorush, "/notifications/0/data",
      "/notifications/0/data is a string, but attachments need a dictionary there: make it one, or remove it"
    ),
    (
      #"{"app_id":"a","contents":{"en":"Hi"},"data":null}"#, .oneSignal, "/data",
      "data is null, but attachments need a dictionary there: make it one, or remove it"
    ),
    (
      #"{"to":["ExponentPushToken[x]"],"title":"Hi","data":"x"}"#, .expo, "/data",
      "data is a string, but attachments need a dictionary there: make it one, or remove it"
    ),
    (
      #"{"default":"Hi","APNS":{"aps":{"alert":"Hi","mutable-content":1}}}"#, .sns, "/APNS",
      "APNS is a dictionary, but SNS expects the payload as JSON in a string"
    ),
    (
      #"{"default":"Hi","APNS":"{"}"#, .sns, "/APNS",
      "APNS is a string without a JSON object, but SNS expects the payload as JSON in a string"
    ),
    (
      #"{"MessageStructure":"json","Message":"{\"APNS\":{\"aps\":{}}}"}"#, .sns, "/Message",
      "Message contains no payload for APNs: write a string with a JSON object in which APNS is the payload, as a string"
    ),
    (
      #"{"Message":"{\"APNS\":\"{\\\"aps\\\":{}}\"}"}"#, .sns, "/MessageStructure",
      #"SNS reads APNS in Message only beside "MessageStructure": "json": write that into the request"#
    ),
    (
      #"{"app_id":"a","contents":{"en":"Hi"},"ios_attachments":["https://a.example/1"]}"#, .oneSignal, "/ios_attachments",
      #"ios_attachments is an array, but OneSignal expects a dictionary: write "ios_attachments": {"id": "https://…"}"#
    ),
    (
      #"{"registration_ids":["a"],"data":{"image":"https://a.example/1"}}"#, .fcmLegacy, "/registration_ids",
      "this is a request to FCM's legacy API, which Google has shut down: write a message of FCM v1, in which message.token names the device and apns.payload is the payload"
    ),
    (
      #"{"to":"/topics/news","notification":{"title":"T"},"mutable_content":true}"#, .fcmLegacy, "/to",
      "this is a request to FCM's legacy API, which Google has shut down: write a message of FCM v1, in which message.token names the device and apns.payload is the payload"
    ),
    (
      #"{"message":{"token":"t","notification":{"title":"T","image":["https://a.example/1"]}}}"#, .fcm, "/message/notification/image",
      "notification.image is an array, but FCM expects a string with a URL"
    ),
    (
      #"{"token":"t","apns":{"payload":{"aps":{}},"fcmOptions":"https://a.example/1"}}"#, .fcm, "/apns/fcmOptions",
      "apns.fcmOptions is a string, but FCM expects a dictionary"
    ),
    (
      #"{"message":{"token":"t","apns":{"payload":"{}"}}}"#, .fcm, "/message/apns/payload",
      "apns.payload is a string, but FCM expects a dictionary: write the payload itself there"
    ),
  ]

  @Test(arguments: rows.indices)
  func `an envelope that stays shut says whose it is, why and what to do`(index: Int) {
    let row = Self.rows[index]
    let inspection = inspect(one: row.line)
    #expect(inspection.findings.map(\.code) == [.envelopeUnopened])
    #expect(inspection.findings.map(\.path.string) == [row.path])
    #expect(inspection.findings.map(\.text) == [row.why])
    #expect(inspection.findings.map(\.source) == [row.form.source])
    #expect(inspection.envelope?.form == row.form)
    #expect((inspection.kind, inspection.runs) == (.push(.nothing), false))
    #expect(inspection.why == row.why)
  }

  @Test(arguments: [
    (#"{"to":"ExponentPushToken[y]","data":"x"}"#, "/data", "/1/data is a string, but attachments need a dictionary there"),
    (#"{"to":"d1"}"#, "", "the message at /1 is not one of Expo's, whose token, in the member to, begins with ExponentPushToken["),
    ("7", "", "the message at /1 is not one of Expo's"),
  ])
  func `a message of Expo's array that stays shut is named, and the others are opened`(message: String, path: String, why: String) throws {
    let one = #"{"to":"ExponentPushToken[x]","title":"Hi","mutableContent":true}"#
    let inspections = inspect("[\(one),\(message),\(one)]")
    #expect(inspections.map(\.isUnopened) == [false, false, true])
    #expect(inspections.map { $0.envelope?.notification } == [1, 3, 2])
    let shut = try #require(inspections.last)
    #expect(shut.findings.map(\.code) == [.envelopeUnopened])
    #expect(shut.findings.map(\.path.string) == ["/1\(path)"])
    #expect(shut.why?.hasPrefix(why) == true, "\(shut.why ?? "")")
    #expect(shut.size == message.utf8.count)
    #expect(
      InspectionText(width: 1_000, isColoured: false).text(of: shut)
        .hasPrefix("Line 1, notification 2, is a message of Expo's server that attache does not open.\n"))
  }

  @Test func `people are told no more than is known`() {
    let text = InspectionText(width: 1_000, isColoured: false).text(of: inspect(one: Self.rows[0].line))
    #expect(
      text == """
        Line 1 is an envelope of gorush that attache does not open.
          attache leaves it unchanged: the request has 101 notifications, but gorush accepts 100: write the others in another request.
          It has 4,564 bytes.
          warning: envelope.unopened: \(Self.rows[0].why). \(FindingCode.envelopeUnopened.advice) [/notifications]

        """)
  }

  @Test(arguments: [
    #"{"notifications":["a"],"x":1}"#, #"{"platform":2,"x":1}"#, #"{"to":"you","data":null}"#, #"{"app_id":"a","data":"x"}"#,
    #"{"Message":"Hi"}"#, #"{"message":{"text":"Hi"}}"#,
  ])
  func `a member of a service's name makes no envelope`(line: String) {
    #expect(inspect(one: line).findings.map(\.code) == [.apsMissing])
  }

  @Test(arguments: [#"{"token":"t","platform":1,"data":{}}"#, #"{"app_id":"a","contents":{"en":"Hi"}}"#])
  func `what is opened is not shut`(line: String) {
    #expect(!inspect(one: line).isUnopened)
    #expect(inspect(one: line).envelope != nil)
  }
}
