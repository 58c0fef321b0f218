import Testing

@testable import Attache

/// Envelopes that attache recognises and does not open.
struct UnopenedEnvelopeTests {
  private static let notification = #"{"tokens":["t"],"platform":1,"message":"Hi"}"#
  private static let rows: [(line: String, form: Envelope.Form, path: String, why: String)] = [
    (
      #"{"notifications":[\#(Array(repeating: notification, count: 101).joined(separator: ","))]}"#, .gorush, "/notifications",
      "the request has 101 notifications, and gorush takes 100: write the others in a request of their own"
    ),
    (
      #"{"notifications":[\#(notification),7]}"#, .gorush, "/notifications/1",
      "the notification is the number 7, and gorush takes dictionaries: leave it out"
    ),
    (
      #"{"notifications":[{"platform":2},\#(notification),{"platform":1,"data":"x"}]}"#, .gorush, "/notifications/2/data",
      "data is a string, and attachments go into a dictionary there: make it one, or leave it out"
    ),
    (
      #"{"notifications":[{"tokens":["t"],"platform":2,"message":"Hi"}]}"#, .gorush, "/notifications/0/platform",
      "platform is the number 2, and Apple's is the number 1: leave out what goes to other devices"
    ),
    (
      #"{"tokens":["t"],"platform":2,"message":"Hi"}"#, .gorush, "/platform",
      "platform is the number 2, and Apple's is the number 1: leave out what goes to other devices"
    ),
    (
      #"{"notifications":[{"tokens":["t"],"message":"Hi"}]}"#, .gorush, "/notifications/0",
      "platform is missing, and Apple's is the number 1: leave out what goes to other devices"
    ),
    (
      #"{"token":"t","platform":1,"message":"Hi","data":null}"#, .gorush, "/data",
      "data is null, and attachments go into a dictionary there: make it one, or leave it out"
    ),
    (
      #"{"notifications":[{"token":"t","platform":1,"data":"x"}]}"#, .gorush, "/notifications/0/data",
      "data is a string, and attachments go into a dictionary there: make it one, or leave it out"
    ),
    (
      #"{"app_id":"a","contents":{"en":"Hi"},"data":null}"#, .oneSignal, "/data",
      "data is null, and attachments go into a dictionary there: make it one, or leave it out"
    ),
    (
      #"{"to":["ExponentPushToken[x]"],"title":"Hi","data":"x"}"#, .expo, "/data",
      "data is a string, and attachments go into a dictionary there: make it one, or leave it out"
    ),
    (
      #"{"default":"Hi","APNS":{"aps":{"alert":"Hi","mutable-content":1}}}"#, .sns, "/APNS",
      "APNS is a dictionary, and SNS takes the payload as JSON in a string: write it so"
    ),
    (
      #"{"default":"Hi","APNS":"{"}"#, .sns, "/APNS",
      "APNS is a string that holds no JSON object, and SNS takes the payload as JSON in a string: write it so"
    ),
    (
      #"{"MessageStructure":"json","Message":"{\"APNS\":{\"aps\":{}}}"}"#, .sns, "/Message",
      "Message holds no payload for APNs: write a string with a JSON object in which APNS is the payload, as a string"
    ),
    (
      #"{"message":{"token":"t","apns":{"payload":"{}"}}}"#, .fcm, "/message/apns/payload",
      "apns.payload is a string, and FCM takes a dictionary: write the payload itself there"
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

  @Test func `people are told no more than is known`() {
    let text = InspectionText(width: 1_000, isColoured: false).text(of: inspect(one: Self.rows[0].line))
    #expect(
      text == """
        Line 1 is an envelope of gorush that attache does not open.
          It is left as it is: the request has 101 notifications, and gorush takes 100: write the others in a request of their own.
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
