import Foundation
import Testing

@testable import Attache
@testable import AttacheInspection

/// The content of an inspection, and its text form.
struct InspectionTests {
  private func object(_ inspection: Inspection) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(inspection.json())) as? [String: Any])
  }

  @Test(arguments: [
    (#"{"aps":{"alert":"Hi","mutable-content":1}}"#, "alert", true), (#"{"aps":{"alert":"Hi"}}"#, "alert", false),
    (#"{"aps":{"alert":"Hi","mutable-content":"1"}}"#, "alert", false),
    (#"{"aps":{"alert":"Hi","content-available":1,"mutable-content":1}}"#, "alert", true),
    (#"{"aps":{"content-available":1,"mutable-content":1}}"#, "silent", false),
    (#"{"aps":{"sound":"a","mutable-content":1}}"#, "sound-or-badge", false), (#"{"aps":{"badge":0}}"#, "sound-or-badge", false),
    (#"{"aps":{"mutable-content":1}}"#, "nothing", false), ("{}", "nothing", false), ("[]", "invalid", false), ("{", "invalid", false),
  ])
  func `the kind and whether a service extension runs follow the matrix`(line: String, kind: String, runs: Bool) throws {
    let inspection = inspect(one: line)
    #expect(inspection.kind.name == kind)
    #expect(inspection.runs == runs)
    #expect((inspection.why == nil) == runs)
  }

  @Test func `a picture that gorush or OneSignal sends to other devices is shown as one`() {
    for (line, path) in [
      (
        #"{"notifications":[{"tokens":["t"],"platform":1,"message":"Hi","mutable_content":true,"image":"https://a.example/1"}]}"#,
        "/notifications/0/image"
      ),
      (#"{"app_id":"a","contents":{"en":"Hi"},"big_picture":"https://a.example/1"}"#, "/big_picture"),
    ] {
      let inspection = inspect(one: line)
      #expect(inspection.media.map(\.reference.path?.string) == [path] && inspection.media.map(\.isFollowed) == [false])
      #expect(inspection.media[0].gates[0].text.contains("does not send it to Apple's devices"))
      #expect(inspection.findings.map(\.code) == [.mediaUnread] && inspection.findings[0].path == UntrustedText(path))
    }
  }

  @Test func `the media of each message in Expo's array are at their own places`() {
    let start = #"{"to":"ExponentPushToken[x]","title":"T","mutableContent":true"#
    let line =
      #"[\#(start),"richContent":{"image":"https://a.example/1"}},\#(start),"richContent":{"image":"https://a.example/1"}},"#
      + #"\#(start),"data":{"_richContent":{"image":"https://a.example/1"}}}]"#
    let paths = inspect(line).flatMap { $0.media.map(\.reference.path) }
    #expect(paths == ["/0/richContent/image", "/1/richContent/image", "/2/data/_richContent/image"])
  }

  @Test(arguments: [
    (#"{"message":{"token":"t","apns":{"payload":{"aps":{"alert":"*"}}}}}"#, "FCM v1"),
    (#"{"app_id":"a","contents":{"en":"*"}}"#, "OneSignal's server"), (#"{"to":"ExponentPushToken[x]","body":"*"}"#, "Expo's server"),
  ])
  func `what a service adds stays free`(line: String, vendor: String) {
    let fixed = inspect(one: line.replacing("*", with: "x")).size - 1
    func inspected(_ size: Int) -> Inspection { inspect(one: line.replacing("*", with: String(repeating: "x", count: size - fixed))) }
    let (fits, isTooLarge) = (inspected(3_840), inspected(3_841))
    let limit = "the 3,840 bytes that \(vendor) may get: APNs accepts 4,096, of which 256 stay free for what it adds"
    #expect(fits.sizeSentence == "It has 3,840 of \(limit).")
    #expect(fits.findings.isEmpty && fits.maximumSize == 3_840)
    #expect(isTooLarge.sizeSentence == "It has 3,841 bytes, more than \(limit).")
    #expect(isTooLarge.findings.map(\.text) == ["the payload has 3,841 bytes, more than \(limit)"])
  }

  @Test func `a value of the wrong type is shown where its sender wrote it`() throws {
    let inspection = inspect(
      one: #"{"to":"ExponentPushToken[x]","body":"Hi","mutableContent":true,"richContent":{"image":{"url":"https://a.example/1"}}}"#)
    let sentence = #"/richContent/image is a dictionary, but expo reads a string there: write "image": "https://…""#
    #expect(inspection.findings.map(\.text) == [sentence])
    #expect(inspection.media.map { $0.gates[0].text } == [sentence])
  }

  @Test func `a message of FCM shows the pictures for all devices`() {
    let line =
      #"{"message":{"token":"t","notification":{"title":"T","image":"https://a.example/1"},"android":{"notification":{"image":"https://a.example/2"}}}}"#
    let member = inspect(one: line)
    #expect(member.media.map(\.isFollowed) == [false, false])
    #expect(member.media.map(\.reference.path) == ["/message/notification/image", "/message/android/notification/image"])
    let url = inspect(one: line) { $0.rewrites = true }
    #expect(url.media.map(\.isFollowed) == [true, true] && url.media.map(\.reference.path) == member.media.map(\.reference.path))
  }

  @Test func `a push type other than alert runs no service extension`() {
    let line =
      #"{"message":{"token":"t","apns":{"headers":{"apns-push-type":"background"},"payload":{"aps":{"alert":"Hi","mutable-content":1}}}}}"#
    #expect(inspect(one: line).why == "its push type is background, and a service extension runs only for alerts")
  }

  @Test func `JSON begins with the agreed members in their order`() {
    let text = String(
      decoding: inspect(one: #"{"aps":{"alert":"Hi","mutable-content":1},"image":"https://cdn.example/a.jpg"}"#).json(), as: UTF8.self)
    #expect(
      text.hasPrefix(
        #"{"line":1,"kind":"alert","runs":true,"dialect":"generic","media":[{"url":"https://cdn.example/a.jpg","identifier":null,"type_hint":null,"options":{},"gates":[{"gate":"payload","passes":true,"reason":null,"text":"the reference is followed"},{"gate":"url","passes":true,"#
      ), "\(text)")
    #expect(text.contains(#"],"size":78,"findings":[],"why":null,"#), "\(text)")
  }

  @Test func `an invalid line is an object too`() throws {
    let object = try object(inspect(one: #"{"aps":"#))
    #expect(object["kind"] as? String == "invalid")
    #expect(object["runs"] as? Bool == false)
    #expect(object["dialect"] is NSNull)
    #expect((object["media"] as? [Any])?.isEmpty == true)
    #expect(object["size"] as? Int == 7)
    #expect((object["findings"] as? [[String: Any]])?.map { $0["code"] as? String } == ["payload.json"])
  }

  @Test func `media that nobody fetches are listed all the same`() throws {
    let inspection = inspect(one: #"{"aps":{"content-available":1},"image":["https://cdn.example/a.jpg","file:///etc/passwd"]}"#)
    #expect(inspection.media.map(\.reference.url) == ["https://cdn.example/a.jpg", "file:///etc/passwd"])
    #expect(inspection.media.allSatisfy { $0.gates[0].passes == false })
    #expect(inspection.media.map(\.isFollowed) == [false, false])
  }

  @Test func `relative, lazy and avatar references are listed`() {
    let relative = inspect(one: #"{"aps":{"alert":"Hi","mutable-content":1},"attachment":{"url":"/a.jpg","lazy":true}}"#)
    #expect(relative.media.map(\.reference.url) == ["/a.jpg"])
    #expect(relative.media.first?.reference.isLazy == true)
    #expect(relative.media.first?.gates.first?.passes == false)
    let avatar = inspect(one: #"{"aps":{"alert":"Hi","mutable-content":1},"icon":"https://cdn.example/a.jpg"}"#)
    #expect(avatar.media.map(\.reference.role) == [.avatar])
    #expect(avatar.media.first?.gates.first?.passes == false)
  }

  @Test func `the payload's gate refuses what is too many, hostile or dealt with`() {
    let list = (0..<4).map { #"{"url":"https://cdn.example/\#($0).jpg","identifier":"\#($0 == 1 ? "../x" : "\($0)")"}"# }.joined(
      separator: ",")
    let inspection = inspect(one: #"{"aps":{"alert":"Hi","mutable-content":1},"image":[\#(list)]}"#) { $0.maximumAttachments = 3 }
    #expect(inspection.media.map { $0.gates[0].reason } == [nil, .payloadIdentifier, nil, .policyAttachments])
    let enriched = inspect(one: #"{"aps":{"alert":"Hi","mutable-content":1},"image":"https://cdn.example/a.jpg","attache":{}}"#)
    #expect(enriched.media.map { $0.gates[0].reason } == [.payloadEnriched])
  }

  @Test func `the size is that of the payload within its envelope`() {
    let payload = #"{"aps":{"alert":"Hi","mutable-content":1}}"#
    #expect(inspect(one: payload).size == payload.utf8.count)
    #expect(inspect(one: " \(payload) \r").size == payload.utf8.count)
    #expect(inspect(one: #"{"message":{"token":"t","apns":{"payload":\#(payload)}}}"#).size == payload.utf8.count)
  }

  @Test(arguments: [
    ("{\n  \"aps\": { \"alert\": \"a b\" }\n}", #"{"aps":{"alert":"a b"}}"#),
    (
      "{\"message\": {\"token\": \"t\",\n \"apns\": { \"payload\": {\"aps\": {\"alert\": \"a b\"}} ,\n \"fcm_options\": {\"image\": \"x\"} } } }",
      #"{"aps":{"alert":"a b"},"fcm_options":{"image":"x"}}"#
    ),
  ])
  func `what is pretty-printed has the size that it is sent with`(text: String, sent: String) {
    let input = InputPayload(line: 1, bytes: Array(text.utf8), isSpread: true)
    #expect(Inspector(Inspector.Configuration()).inspect(input)[0].size == sent.utf8.count)
  }

  @Test func `what is no JSON stays none, however it is broken into lines`() {
    let input = InputPayload(line: 1, bytes: Array("{\n\"a\": 1 2\n}".utf8), isSpread: true)
    #expect(Inspector(Inspector.Configuration()).inspect(input)[0].kind == .invalid)
  }

  @Test func `paths lead into the line as it stands`() {
    let fcm =
      #"{"message":{"token":"t","apns":{"payload":{"aps":{"alert":"Hi","mutable-content":1,"sound":3}},"fcm_options":{"image":"http://cdn.example/a.jpg"}}}}"#
    #expect(inspect(one: fcm).findings.map(\.path) == ["/message/apns/payload/aps/sound", "/message/apns/fcm_options/image"])
    let sns = #"{"default":"Hi","APNS":"{\"aps\":{\"alert\":\"Hi\",\"sound\":3}}"}"#
    #expect(inspect(one: sns).findings.map(\.path) == ["/APNS/aps/sound"])
  }

  @Test func `each notification of a request is inspected, with its own places and its own size`() {
    let start = #"{"platform":1,"message":"Hi","mutable_content":true"#
    let line =
      #"{"notifications":[\#(start),"tokens":["a"],"data":{"image":"http://cdn.example/a.jpg"}},{"platform":2},"#
      + #"\#(start),"tokens":["b","c"],"sound":3,"data":{"image":"https://cdn.example/b.jpg"}}]}"#
    let inspections = inspect(line)
    #expect(inspections.map(\.envelope?.notification) == [1, 3])
    #expect(inspections.map(\.envelope?.token) == ["a", nil])
    #expect(inspections.map { $0.media.map(\.reference.url) } == [["http://cdn.example/a.jpg"], ["https://cdn.example/b.jpg"]])
    #expect(inspections.map { $0.findings.map(\.path) } == [["/notifications/0/data/image"], ["/notifications/2/sound"]])
    #expect(inspections[0].size == #"{"aps":{"alert":"Hi","mutable-content":1},"image":"http://cdn.example/a.jpg"}"#.utf8.count)
    #expect(inspections[1].headline == "Line 1, notification 3, is an alert in an envelope of gorush: “Hi”")
  }

  @Test func `a silent push that brings the output member says so`() {
    let inspection = inspect(one: #"{"aps":{"content-available":1},"attache":{}}"#)
    #expect(inspection.isEnriched)
    #expect(InspectionText(width: 1_000, isColoured: false).text(of: inspection).contains("The line already has the output member"))
    #expect(String(decoding: inspection.json(), as: UTF8.self).contains(#""enriched":true"#))
  }

  @Test func `ciphertext is named`() throws {
    let inspection = inspect(one: #"{"aps":{"alert":"Hi","mutable-content":1},"ciphertext":"c2VjcmV0","iv":"MTIzNDU2Nzg5MDEy"}"#)
    #expect(inspection.encrypted != nil)
    #expect(inspection.dialect != nil)
    #expect(InspectionText(width: 100, isColoured: false).text(of: inspection).contains("encrypted"))
  }

  @Test func `what a vendor's helper shows is told`() throws {
    let line =
      #"{"aps":{"alert":"Hi","mutable-content":1},"notifee_options":{"title":"Rich","ios":{"attachments":[{"id":"h","url":"https://cdn.example/a.mp4","typeHint":"public.mpeg-4","thumbnailHidden":true,"thumbnailTime":3}]}}}"#
    let inspection = inspect(one: line)
    let json = try object(inspection)
    #expect((json["overrides"] as? [String: String])?["title"] == "Rich")
    let medium = try #require((json["media"] as? [[String: Any]])?.first)
    #expect(medium["identifier"] as? String == "h")
    #expect(medium["type_hint"] as? String == "public.mpeg-4")
    #expect((medium["options"] as? [String: Any])?.keys.sorted() == ["thumbnailHidden", "thumbnailTime"])
    #expect(InspectionText(width: 100, isColoured: false).text(of: inspection).contains("“Rich”"))
  }

  @Test func `nothing of a payload steers a terminal`() {
    let hostile = #"\u001b[2J\u0007\u009b31m\u202e\u2028\ue000"#
    let line =
      #"{"aps":{"alert":"\#(hostile)","mutable-content":1,"\#(hostile)":1},"image":[{"url":"https://cdn.example/\#(hostile)","identifier":"\#(hostile)","type":"\#(hostile)"}]}"#
    let inspection = inspect(one: line)
    #expect(inspection.media.count == 1)
    let text = InspectionText(width: 80, isColoured: false).text(of: inspection)
    #expect(text.unicodeScalars.allSatisfy { $0 == "\n" || PrintableText.isPrintable($0) })
    let json = String(decoding: inspection.json(), as: UTF8.self)
    #expect(json.unicodeScalars.allSatisfy(PrintableText.isPrintable))
    #expect(inspection.media.first?.reference.identifier == "\u{1B}[2J\u{7}\u{9B}31m\u{202E}\u{2028}\u{E000}")
    let parsed = (try? object(inspection)).flatMap { ($0["media"] as? [[String: Any]])?.first?["identifier"] as? String }
    #expect(parsed == inspection.media.first?.reference.identifier?.string)
  }

  @Test func `text is broken between words, and a URL never`() {
    let url = "https://cdn.example/" + String(repeating: "a", count: 200) + ".jpg"
    let text = InspectionText(width: 60, isColoured: false).text(
      of: inspect(one: #"{"aps":{"alert":"\#(String(repeating: "word ", count: 20))","mutable-content":1},"image":"\#(url)"}"#))
    #expect(text.split(separator: "\n").contains { $0.hasSuffix(url) })
    #expect(text.split(separator: "\n").allSatisfy { $0.count <= 60 || $0.contains(url) })
  }

  @Test(arguments: [
    (#"{"message":{"token":"t","data":{"title":"Hi"}}}"#, "this is a data-only message of FCM"),
    (#"{"external_user_ids":["a"],"messages":{"apple_push":{}}}"#, "the object has no aps and is no request that attache reads"),
  ])
  func `a line without aps is told what it is`(line: String, text: String) {
    let findings = inspect(one: line).findings
    #expect(findings.map(\.code) == [.apsMissing])
    #expect(findings.first?.text.hasPrefix(text) == true, "\(findings)")
  }

  @Test func `a Live Activity's push needs no mutable-content`() {
    let inspection = inspect(
      one: #"{"aps":{"event":"update","content-state":{"a":1},"alert":{"title":"Hi","body":"Hi"}},"image":"https://cdn.example/a.jpg"}"#)
    #expect(!inspection.findings.map(\.code).contains(.mutableMissing), "\(inspection.findings)")
    #expect(inspection.why == "it is for a Live Activity, for which none runs")
  }

  @Test func `what strict dialects refuse is a finding`() throws {
    let line = #"{"aps":{"alert":"Hi","mutable-content":1},"ab":{"att":{"url":"https://cdn.example/a.jpg"}}}"#
    let strict = try DialectTable(isStrict: true)
    let inspection = inspect(one: line) { $0.dialects = strict }
    #expect(inspection.findings.map(\.code) == [.mediaForm])
    #expect(inspection.findings.first?.path == "/ab/att/url")
    #expect(inspection.findings.first?.text.hasPrefix("--strict-dialects: the URL at /ab/att/url has no type hint") == true)
  }

  @Test func `colours are escape sequences where they are wanted, and nowhere else`() {
    let inspection = inspect(one: #"{"aps":{"alert":"Hi","badge":"1"}}"#)
    #expect(InspectionText(width: 80, isColoured: true).text(of: inspection).contains("\u{1B}[1;31merror\u{1B}[0m"))
    #expect(!InspectionText(width: 80, isColoured: false).text(of: inspection).contains("\u{1B}"))
  }
}
