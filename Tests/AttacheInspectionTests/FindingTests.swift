import Foundation
import Testing

@testable import Attache
@testable import AttacheInspection

/// The findings of `attache lint`: each code has a payload with only this finding, and clean
/// payloads have none.
struct FindingTests {
  /// A row: the code, a line with only this finding, and the path.
  private static let rows: [(code: FindingCode, line: String, path: String)] = [
    (.payloadJSON, #"{"aps":{"alert":"Hi"}"#, ""),
    (.payloadSize, #"{"aps":{"alert":"\#(String(repeating: "x", count: 4077))"}}"#, ""),
    (
      .payloadSize, #"{"message":{"token":"t","apns":{"payload":{"aps":{"alert":"\#(String(repeating: "x", count: 4077))"}}}}}"#,
      "/message/apns/payload"
    ),
    (.envelopeUnopened, #"{"default":"Hi","APNS":{"aps":{"alert":"Hi","mutable-content":1}}}"#, "/APNS"),
    (.mutableOutside, #"{"aps":{"alert":"Hi"},"mutable-content":1,"image":"https://cdn.example/a.jpg"}"#, "/mutable-content"),
    (
      .envelopeSpelling,
      #"{"message":{"token":"t","notification":{"title":"T"},"android":{"collapse_key":"a","notification":{"body":"b"},"collapseKey":"a"}}}"#,
      "/message/android/collapseKey"
    ),
    (
      .envelopeSpelling,
      #"{"message":{"apns":{"payload":{"aps":{"alert":"Hi"},"a_b":1,"aB":2},"fcm_options":{"analytics_label":"a","analyticsLabel":"a"}},"data":{"a_b":"","aB":""}}}"#,
      "/message/apns/fcm_options/analyticsLabel"
    ),
    (
      .mutableOutside,
      #"{"message":{"token":"t","notification":{"title":"T"},"apns":{"headers":{"mutable-content":"1"},"payload":{"aps":{"sound":"default"}}}}}"#,
      "/message/apns/headers/mutable-content"
    ),
    (.mutableOutside, #"{"aps":{"alert":{"body":"Hi","mutable-content":1}}}"#, "/aps/alert/mutable-content"),
    (.mutableValue, #"{"aps":{"alert":"Hi","mutable-content":"1"},"image":"https://cdn.example/a.jpg"}"#, "/aps/mutable-content"),
    (.mutableValue, #"{"aps":{"alert":"Hi","mutable-content":0}}"#, "/aps/mutable-content"),
    (.mutableBoolean, #"{"aps":{"alert":"Hi","mutable-content":true}}"#, "/aps/mutable-content"),
    (.mutableMissing, #"{"aps":{"alert":"Hi"},"image":"https://cdn.example/a.jpg"}"#, "/image"),
    (.mutableAlert, #"{"aps":{"sound":"default","mutable-content":1}}"#, "/aps/mutable-content"),
    (.mutableAlert, #"{"aps":{"content-available":1,"mutable-content":1}}"#, "/aps/mutable-content"),
    (.contentAvailableValue, #"{"aps":{"content-available":"1"}}"#, "/aps/content-available"),
    (.contentAvailableValue, #"{"aps":{"alert":"Hi","content-available":2}}"#, "/aps/content-available"),
    (.contentAvailableBoolean, #"{"aps":{"content-available":true}}"#, "/aps/content-available"),
    (.contentAvailableAlert, #"{"aps":{"alert":"Hi","content-available":1}}"#, "/aps/content-available"),
    (.silentSound, #"{"aps":{"content-available":1,"sound":"default"}}"#, "/aps/sound"),
    (.silentSound, #"{"aps":{"content-available":1,"sound":""}}"#, "/aps/sound"),
    (.silentBadge, #"{"aps":{"content-available":1,"badge":3}}"#, "/aps/badge"),
    (
      .silentPriority,
      #"{"message":{"token":"t","apns":{"headers":{"apns-priority":"10"},"payload":{"aps":{"content-available":1}}}}}"#,
      "/message/apns/headers/apns-priority"
    ),
    (
      .pushTypeConflict,
      #"{"message":{"token":"t","apns":{"headers":{"apns-push-type":"alert"},"payload":{"aps":{"event":"end","content-state":{}}}}}}"#,
      "/message/apns/headers/apns-push-type"
    ),
    (
      .pushTypeConflict,
      #"{"message":{"token":"t","apns":{"headers":{"apns-push-type":"background"},"payload":{"aps":{"alert":"Hi"}}}}}"#,
      "/message/apns/headers/apns-push-type"
    ),
    (.apsMissing, #"{"image":"https://cdn.example/a.jpg"}"#, ""),
    (.apsMissing, #"{"aps":"Hi"}"#, "/aps"),
    (.apsMissing, #"{"message":{"token":"t","apns":{"payload":{"a":1}}}}"#, "/message/apns/payload"),
    (.apsAlert, #"{"aps":{"alert":["Hi"]}}"#, "/aps/alert"),
    (.apsAlert, #"{"aps":{"alert":{"titel":"Hi"},"sound":"default"}}"#, "/aps/alert"),
    (.apsAlert, #"{"aps":{"alert":""}}"#, "/aps/alert"),
    (.apsUnknown, #"{"aps":{"alert":"Hi","mutable_content":1}}"#, "/aps/mutable_content"),
    (.apsUnknown, #"{"aps":{"alert":"Hi","a/b":{"c":"d"}}}"#, "/aps/a~1b"),
    (.apsSound, #"{"aps":{"alert":"Hi","sound":1}}"#, "/aps/sound"),
    (.apsSound, #"{"aps":{"alert":"Hi","sound":{"critical":1}}}"#, "/aps/sound"),
    (.apsBadge, #"{"aps":{"alert":"Hi","badge":"3"}}"#, "/aps/badge"),
    (.apsBadge, #"{"aps":{"alert":"Hi","badge":-1}}"#, "/aps/badge"),
    (.apsCategory, #"{"aps":{"alert":"Hi","category":""}}"#, "/aps/category"),
    (.apsCategory, #"{"aps":{"alert":"Hi","category":7}}"#, "/aps/category"),
    (
      .apsMedia, #"{"aps":{"alert":"Hi","mutable-content":1,"data":{"attachment-url":"https://cdn.example/a.jpg"}}}"#,
      "/aps/data/attachment-url"
    ),
    (.apsMedia, #"{"aps":{"alert":"Hi","mutable-content":1,"pictureURL":"https://cdn.example/a.jpg"}}"#, "/aps/pictureURL"),
    (.urlHTTP, #"{"aps":{"alert":"Hi","mutable-content":1},"image":"http://cdn.example/a.jpg"}"#, "/image"),
    (
      .urlHTTPS, #"{"aps":{"alert":"Hi","mutable-content":1},"adb_media":"http://cdn.example/a.jpg"}"#, "/adb_media"
    ),
    (
      .urlRelative,
      #"{"aps":{"alert":"Hi","mutable-content":1},"attachment":{"url":"/local/a.jpg"}}"#, "/attachment/url"
    ),
    (.urlRefused, #"{"aps":{"alert":"Hi","mutable-content":1},"image":"https://192.168.0.1/a.jpg"}"#, "/image"),
    (.urlRefused, #"{"aps":{"alert":"Hi","mutable-content":1},"attachment":{"url":"https//:cam.example.org/a.jpg"}}"#, "/attachment/url"),
    (.urlRefused, #"{"aps":{"alert":"Hi","mutable-content":1},"image":"https:/cdn.example.org/a.jpg"}"#, "/image"),
    (.urlRefused, #"{"aps":{"alert":"Hi","mutable-content":1},"image":"www.example.org/a.jpg"}"#, "/image"),
    (.urlRefused, #"{"aps":{"alert":"Hi","mutable-content":1},"image":"data:image/png;base64,iVBORw0KGgo="}"#, "/image"),
    (.urlRefused, #"{"aps":{"alert":"Hi","mutable-content":1},"fcm_options":{"image":"/9j/4AAQSkZJRgABAQ"}}"#, "/fcm_options/image"),
    (.urlRefused, #"{"aps":{"alert":"Hi","mutable-content":1},"image":"'https://cdn.example/a.jpg'"}"#, "/image"),
    (.urlRefused, #"{"aps":{"alert":"Hi","mutable-content":1},"image":"<https://cdn.example/a.jpg>"}"#, "/image"),
    (.urlRefused, #"{"aps":{"alert":"Hi","mutable-content":1},"image":"https://user@cdn.example/a.jpg"}"#, "/image"),
    (.typeUnguessable, #"{"aps":{"alert":"Hi","mutable-content":1},"image":"https://cdn.example/a?f=.jpg"}"#, "/image"),
    (.typeUnguessable, #"{"aps":{"alert":"Hi","mutable-content":1},"image":"https://cdn.example/a.webp"}"#, "/image"),
    (.mediaMany, many(65), ""),
    (.mediaForm, #"{"aps":{"alert":"Hi","mutable-content":1},"ab":{"att":"https://cdn.example/a.jpg"}}"#, "/ab/att"),
    (.mediaForm, #"{"aps":{"alert":"Hi","mutable-content":1},"_grinfo_":{"url":"https://cdn.example/a"}}"#, "/_grinfo_"),
    (
      .mediaForm, #"{"to":"ExponentPushToken[x]","body":"Hi","mutableContent":true,"richContent":"https://cdn.example/a.jpg"}"#,
      "/richContent"
    ),
    (
      .mediaForm,
      #"[{"to":"ExponentPushToken[x]","body":"Hi","mutableContent":true,"richContent":[{"image":"https://cdn.example/a.jpg"}]}]"#,
      "/0/richContent"
    ),
    (
      .mediaForm,
      #"{"aps":{"alert":"Hi","mutable-content":1},"image":"https://cdn.example/a.jpg","ab":{"att":"https://cdn.example/b.jpg"}}"#, "/ab/att"
    ),
    (
      .mediaForm,
      #"{"aps":{"alert":"Hi","mutable-content":1},"_wp":{"attachments":[{"url":"https://cdn.example/a.jpg"},"https://cdn.example/a.jpg"]}}"#,
      "/_wp/attachments/1"
    ),
    (
      .mediaForm,
      #"{"app_id":"a","contents":{"en":"Hi"},"ios_attachments":{"a":"https://cdn.example/a.jpg","b":["https://cdn.example/b.jpg"]}}"#,
      "/ios_attachments/b"
    ),
    (.mediaUnread, #"{"aps":{"alert":"Hi","mutable-content":1},"cms":{"hero":{"url":"https://cdn.example/a.jpg"}}}"#, "/cms/hero/url"),
    (
      .mediaUnread,
      #"{"message":{"token":"t","data":{"heroPic":"//cdn.example/a.jpg"},"apns":{"payload":{"aps":{"alert":"Hi","mutable-content":1}}}}}"#,
      "/message/data/heroPic"
    ),
    (
      .typeContradiction,
      #"{"aps":{"alert":"Hi","mutable-content":1},"attachment-url":"https://cdn.example/a.jpg","media-type":"video/mp4"}"#,
      "/attachment-url"
    ),
    (.typeHint, #"{"aps":{"alert":"Hi","mutable-content":1},"ab":{"att":{"url":"https://cdn.example/a.jpg"}}}"#, "/ab/att/url"),
    (.actionsMany, onesignal(actions: 11), "/buttons"),
    (.actionsLimited, onesignal(actions: 5), "/buttons"),
  ]

  private static func onesignal(actions: Int) -> String {
    let buttons = (0..<actions).map { #"{"i":"\#($0)","n":"Button \#($0)"}"# }.joined(separator: ",")
    return #"{"aps":{"alert":"Hi","mutable-content":1},"custom":{"i":"1"},"buttons":[\#(buttons)]}"#
  }

  private static func many(_ count: Int) -> String {
    let urls = (0..<count).map { #""https://cdn.example/\#($0).jpg""# }.joined(separator: ",")
    return #"{"aps":{"alert":"Hi","mutable-content":1},"image":[\#(urls)]}"#
  }

  private static let clean: [String] = [
    #"{"aps":{"alert":"Hi"}}"#,
    #"{"aps":{"alert":{"title":"Hi","loc-args":[]},"badge":0,"sound":{"name":"a.caf","critical":1},"category":"c","mutable-content":1},"image":"https://cdn.example/a.jpg"}"#,
    #"{"aps":{"alert":"Hi","mutable-content":1},"attachment-url":"https://cdn.example/a","media-type":"image/png"}"#,
    #"{"aps":{"alert":"Hi","mutable-content":1},"attachment-url":"https://cdn.example/a.jpg","media-type":"image"}"#,
    #"{"aps":{"content-available":1},"image":"https://cdn.example/a.jpg"}"#,
    #"{"aps":{"content-available":1,"sound":null,"badge":null,"category":null}}"#,
    #"{"aps":{"alert":"Hi","url-args":["https://a.example/"],"interruption-level":"active","relevance-score":0.5}}"#,
    #"{"aps":{"alert":"\#(String(repeating: "x", count: 4076))"}}"#,
    onesignal(actions: 4), many(64),
    #"{"aps":{"badge":1}}"#,
    #"{"aps":{"alert":"Hi","content-available":0}}"#,
    #"{"aps":{"event":"update","alert":{"title":{"loc-key":"k"}}}}"#,
    #"{"mdm":"magic"}"#,
    #"{"to":"ExponentPushToken[x]","body":"Hi","mutableContent":true,"richContent":7}"#,
    "{}",
  ]

  @Test(arguments: rows.indices)
  func `each finding is shown by a payload that has exactly it`(index: Int) {
    let row = Self.rows[index]
    let findings = inspect(one: row.line).findings
    #expect(findings.map(\.code) == [row.code], "\(row.line): \(findings)")
    #expect(findings.map(\.path.string) == [row.path])
  }

  @Test(arguments: clean)
  func `a clean payload has none`(line: String) {
    #expect(inspect(one: line).findings == [])
  }

  @Test(arguments: ["webp", "HEIC", "avif", "tif", "tiff", "heif"])
  func `a picture that is converted has no finding`(fileExtension: String) {
    let line = #"{"aps":{"alert":"Hi","mutable-content":1},"image":"https://cdn.example/a.\#(fileExtension)"}"#
    #expect(inspect(one: line).findings.map(\.code) == [.typeUnguessable])
    #expect(inspect(one: line) { $0.converts = true }.findings == [])
  }

  @Test(arguments: [("MESSAGE", []), ("message", [FindingCode.categoryUnknown]), ("", [.apsCategory])])
  func `a category that the app does not have is a finding, if the app's are known`(name: String, codes: [FindingCode]) throws {
    let categories = try NotificationCategories(Array(#"{"categories":[{"identifier":"MESSAGE"}]}"#.utf8))
    let line = #"{"aps":{"alert":"Hi","category":"\#(name)"}}"#
    #expect(inspect(one: line) { $0.categories = categories }.findings.map(\.code) == codes)
    #expect(inspect(one: line).findings.map(\.code) == codes.filter { $0 == .apsCategory })
  }

  @Test func `every code has a row`() {
    #expect(Set(Self.rows.map(\.code)).union([.silentRate, .categoryUnknown]) == Set(FindingCode.allCases))
  }

  @Test(arguments: FindingCode.allCases)
  func `every code has a dotted name, a sentence, advice and a source`(code: FindingCode) {
    #expect(code.rawValue.wholeMatch(of: /[a-z-]+\.[a-z]+/) != nil)
    #expect(code.sentence.hasSuffix("."))
    #expect(code.advice.hasSuffix("."))
    #expect(code.source.hasPrefix("https://"))
  }

  @Test func `a finding speaks of the vendor's own page where the rule is the vendor's`() throws {
    let finding = try #require(
      inspect(one: #"{"aps":{"alert":"Hi","mutable-content":1},"ab":{"att":{"url":"https://cdn.example/a.jpg"}}}"#).findings.first)
    #expect(finding.source.localizedStandardContains("braze") || finding.source.localizedStandardContains("appboy"))
  }

  @Test(arguments: [
    #"{"app_id":"a","content_available":true,"data":{"a":1}}"#,
    #"{"app_id":"a","template_id":"t"}"#,
  ])
  func `what a push service adds by itself has no finding`(line: String) {
    #expect(inspect(one: line).findings == [])
  }

  @Test(arguments: [
    (#"{"app_id":"a","content_available":true,"mutable_content":true}"#, "/mutable_content"),
    (#"{"to":"ExponentPushToken[x]","_contentAvailable":true,"mutableContent":true}"#, "/mutableContent"),
    (#"{"token":"t","platform":1,"content_available":true,"mutable_content":true}"#, "/mutable_content"),
  ])
  func `what its sender wrote stands where it is written`(line: String, path: String) {
    #expect(inspect(one: line).findings.map(\.code) == [.mutableAlert])
    #expect(inspect(one: line).findings.map(\.path.string) == [path])
  }

  @Test(arguments: [
    #"{"aps":{"alert":"Hi","mutable-content":1,"category":"myNotificationCategory"},"image":"https://cdn.example/a.jpg"}"#,
    #"{"aps":{"alert":"Hi","mutable-content":1},"body":{"_k":{}},"rich-media":"https://cdn.example/a.png"}"#,
  ])
  func `the type that a vendor's helper takes for everything contradicts no extension`(line: String) {
    let inspection = inspect(one: line)
    #expect(inspection.media.first?.reference.typeHint != nil)
    #expect(inspection.findings == [])
  }

  @Test func `a hint that the payload has in a fallback's place contradicts`() {
    let line =
      #"{"aps":{"alert":"Hi","mutable-content":1},"body":{"_k":{}},"rich-media":"https://cdn.example/a.png","rich-media-type":"gif"}"#
    #expect(inspect(one: line).findings.map(\.code) == [.typeContradiction])
  }

  @Test func `a payload for VoIP may have 5,120 bytes`() {
    let payload = #"{\"aps\":{\"alert\":\"\#(String(repeating: "x", count: 4200))\"}}"#
    #expect(inspect(one: #"{"APNS_VOIP":"\#(payload)"}"#).findings == [])
    let message = String(decoding: JSONString.escaped(Array(#"{"APNS_VOIP_SANDBOX":"\#(payload)"}"#.utf8)), as: UTF8.self)
    #expect(inspect(one: #"{"MessageStructure":"json","Message":"\#(message)"}"#).findings == [])
    #expect(inspect(one: #"{"APNS":"\#(payload)"}"#).findings.map(\.code) == [.payloadSize])
  }

  @Test func `hostile names stand in a finding as printable text`() throws {
    let finding = try #require(inspect(one: #"{"aps":{"alert":"Hi","\u001b[2J\u009b\u202e":1}}"#).findings.first)
    #expect(finding.text.unicodeScalars.allSatisfy(PrintableText.isPrintable))
    #expect(finding.text.contains(#"\u{1b}[2J\u{9b}\u{202e}"#))
  }

  @Test func `a line of more than 1 MiB is invalid for its size`() {
    var configuration = Inspector.Configuration()
    configuration.outputKey = "attache"
    let inspection = Inspector(configuration).inspect(InputPayload(line: 3, length: 2_000_000))[0]
    #expect(inspection.kind == .invalid)
    #expect(inspection.size == 2_000_000)
    #expect(inspection.findings.map(\.code) == [.payloadSize])
  }
}
