import AttacheTesting
import Testing

@testable import Attache

/// The URLs of attached media are replaced in their own places: `--attach-as`.
struct RewriteTests {
  private static let aps = #""aps":{"alert":"Hi","mutable-content":1}"#

  private static let ntfy = #""id":"i","time":"1","event":"message","topic":"t","attachment_url":"<1>""#

  @Test(arguments: [
    // Escapes, duplicate names and white space around.
    #"{\#(aps),"image":"https:\/\/a.ex\u0061mple/1"}"#, #"{"image" : 1 ,"image":"<1>",\#(aps), "im\u0061ge":"<2>" }"#,
    // One URL at two places, under two dialects, and as a link that no dialect reads.
    #"{\#(aps),"fcm_options":{"image":"<1>"},"ab":{"att":{"url":"<1>","type":"png"}},"link":"<1>"}"#,
    // Names with quotes and escapes; arrays and maps.
    #"{\#(aps),"custom":{"i":"c"},"att":{"a\"\\\/\u00e9":"<1>","":"<2>","b\n":1}}"#,
    #"{\#(aps),"attachments":["<1>",{"url":"<2>"},3,["<3>"]]}"#,
    // JSON in a string.
    #"{\#(aps),"es_interaction_id":"r","es_notification_images":"[ \"<1>\" ,\"\\u0068ttps://a.example/2\"]"}"#,
  ])
  func `only the strings at the dialects' places change`(marked: String) throws {
    let stage = try RewriteStage()
    let (line, _) = try stage.twins(marked)
    let twin = try stage.rewrite(line)
    let changes = try #require(LeafChange.all(Array(line.utf8), Array(twin.utf8)), "\(twin)")
    let candidate = try #require(stage.read(line).candidate)
    let urls = changes.filter { $0.before.hasPrefix("https://a.example/") }
    #expect(!urls.isEmpty && urls.map(\.before).sorted() == candidate.sites.map(\.written.string).sorted(), "\(twin)")
    for change in urls { #expect(change.after == (try stage.address(UntrustedText(change.before)))) }
  }

  @Test func `a URL that was not attached keeps its place, and the next run attaches the rest`() throws {
    var stage = try RewriteStage()
    stage.isAttached = { $0.hasSuffix("2") }
    let (line, _) = try stage.twins(#"{\#(Self.aps),"attachments":["<1>","<2>"]}"#)
    let twin = try stage.rewrite(line)
    #expect(twin == line.replacing("https://a.example/2", with: try stage.address("https://a.example/2")))
    #expect(stage.read(twin).candidate?.references.map(\.url) == ["https://a.example/1"])
    stage.isAttached = { _ in true }
    let whole = try stage.rewrite(twin)
    #expect(whole == twin.replacing("https://a.example/1", with: try stage.address("https://a.example/1")))
    #expect(stage.read(whole) == .passthrough(.alert, .payloadEnriched))
  }

  @Test func `both also adds the member, and the member alone keeps the URL`() throws {
    var stage = try RewriteStage()
    stage.form = .both
    let (line, twin) = try stage.twins(#"{\#(Self.aps),"image":"<1>"}"#)
    let member = #","attache":{"attachments":[{"identifier":"i","url":"https://cdn.example/push/"#
    #expect(try stage.rewrite(line).hasPrefix(twin.dropLast() + member))
    stage.form = .member
    #expect(try stage.rewrite(line).hasPrefix(line.dropLast() + #","attache":{"#))
  }

  @Test func `a payload with the member passes through`() throws {
    #expect(try RewriteStage().read(#"{\#(Self.aps),"image":"https://a.example/1","attache":0}"#).reason == .payloadEnriched)
  }

  @Test func `a URL that fails over gives its address to all URLs of the media`() throws {
    let stage = try RewriteStage()
    let line = #"{\#(Self.aps),"_sw":{"media":{"url":"https://a.example/1","fallback_url":"https://a.example/2"}}}"#
    let payload = try #require(stage.read(line).candidate)
    let file = try stage.file("x")
    let attachment = Attachment(identifier: "i", file: file, source: "https://a.example/2", options: AttachmentOptions())
    var edited = payload
    edited.apply(MediaEdit([attachment], of: payload, at: StoreAddress(base: RewriteStage.base)), in: Segment(line))
    let twin = String(decoding: LineEdit.apply(edited.edits, to: line.utf8), as: UTF8.self)
    let address = RewriteStage.base + "/" + file.relativePath
    #expect(twin == #"{\#(Self.aps),"_sw":{"media":{"url":"\#(address)","fallback_url":"\#(address)"}}}"#)
    #expect(edited.splice.payloadCount == twin.utf8.count)
  }

  @Test func `the size limit counts the addresses`() throws {
    var stage = try RewriteStage()
    let (line, twin) = try stage.twins(#"{\#(Self.aps),"image":"<1>"}"#)
    stage.maximum = .bytes(twin.utf8.count)
    #expect(try stage.rewrite(line) == twin)
    stage.maximum = .bytes(twin.utf8.count - 1)
    let decision = try stage.decide(line)
    #expect(decision.reason == .payloadMaximum && decision.text(of: line) == line)
    let size = twin.utf8.count
    #expect(
      decision.cause?.text.hasPrefix("with its attachments the payload would have \(size) bytes, and may have \(size - 1); ") == true)
    stage.maximum = .bytes(10)
    let before = try stage.decide(line).cause?.text
    #expect(before == "the payload has \(line.utf8.count) bytes before anything is attached, and may have 10; shorten it")
  }

  @Test(arguments: [
    (#"{<aps>,"image":"<1>"}"#, 4_096), (#"{"APNS":"{\"aps\":{\"alert\":\"<pad>\",\"mutable-content\":1},\"image\":\"<1>\"}"}"#, 4_096),
    (#"{"APNS_VOIP":"{\"aps\":{\"alert\":\"<pad>\",\"mutable-content\":1},\"image\":\"<1>\"}"}"#, 5_120),
    (#"{"platform":1,"token":"t","message":"<pad>","mutable_content":true,"data":{"image":"<1>"}}"#, 4_096),
    (#"{"message":{"token":"t","apns":{"payload":{<aps>,"image":"<1>"}}}}"#, 3_840),
    (#"{"app_id":"a","contents":{"en":"<pad>"},"ios_attachments":{"i":"<1>"}}"#, 3_840),
    (#"[{"to":"ExponentPushToken[x]","body":"<pad>","mutableContent":true,"richContent":{"image":"<1>"}}]"#, 3_840),
  ])
  func `with public addresses a payload may grow to what APNs accepts from its service`(marked: String, limit: Int) throws {
    for form in [Attache.FilterConfiguration.AttachmentForm.url, .both, .member] {
      var stage = try RewriteStage()
      stage.form = form
      func line(_ padding: Int) throws -> String {
        let line = marked.replacing("<aps>", with: #""aps":{"alert":"<pad>","mutable-content":1}"#)
        return try stage.twins(line.replacing("<pad>", with: String(repeating: "x", count: padding))).line
      }
      let size = try #require(stage.decide(line(1)).payloadCount)
      let largest = try line(1 + limit - size)
      #expect(try stage.decide(largest).payloadCount == limit)
      let decision = try stage.decide(line(2 + limit - size))
      #expect(decision.reason == .payloadMaximum && decision.outcome == .fallback && decision.payloadCount == limit + 1)
      stage.maximum = .unlimited
      #expect(try stage.decide(line(2 + limit - size)).outcome == .attached)
    }
  }

  @Test func `a list that fails for another reason first does not say that a later payload is too large`() throws {
    var stage = try RewriteStage()
    let message = #"{"to":"ExponentPushToken[x]","body":"Hi","mutableContent":true,"richContent":{"image":"<N>"}}"#
    let (line, _) = try stage.twins("[\(message.replacing("N", with: "1")),\(message.replacing("N", with: "2"))]")
    stage.maximum = .bytes(10)
    #expect(try stage.decide(line).cause?.text.contains("may have 10") == true)
    stage.failed = ["https://a.example/1"]
    let decision = try stage.decide(line)
    #expect(decision.reason == .httpStatus && decision.cause == nil)
  }

  @Test func `with file addresses there is no limit unless one is given`() throws {
    let line = candidateLine(#""image":"https://a.example/1","text":"\#(String(repeating: "x", count: 5_000))""#)
    var stage = try RewriteStage()
    (stage.form, stage.base) = (.member, nil)
    #expect(try stage.decide(line).outcome == .attached)
    stage.maximum = .bytes(4_096)
    #expect(try stage.decide(line).reason == .payloadMaximum)
  }

  @Test func `a value that the service extension changes keeps what it gave`() throws {
    let (line, twin) = try RewriteStage().twins(#"{\#(Self.aps),"image":"<1>","media-url":"<2>"}"#)
    let decision = try RewriteStage().decide(line) { $0.userInfo["image"] = Array("0".utf8) }
    let address = try RewriteStage().address("https://a.example/1")
    #expect(decision.text(of: line) == twin.replacing("\"\(address)\"", with: "0"))
  }

  @Test func `a composed URL has no place, so that the original is written`() throws {
    var stage = try RewriteStage()
    let rows = #"[{"name":"v","media":[{"build":"https://a.example/{id}"}]}]"#
    stage.dialects = DialectTable(rows: try DialectForm(name: "mine.json", bytes: rows.utf8).rows(isWhole: true))
    let line = #"{\#(Self.aps),"id":"1"}"#
    let decision = try stage.decide(line)
    #expect(decision.outcome == .fallback && decision.reason == .payloadPlace && decision.text(of: line) == line)
    stage.form = .both
    #expect(try stage.rewrite(line).hasPrefix(line.dropLast() + #","attache":"#))
  }

  @Test func `a payload whose media have no place keeps its texts too`() throws {
    var stage = try RewriteStage()
    stage.appliesOverrides = true
    let rows = #"[{"name":"v","overrides":{"title":{"at":"t"}},"media":[{"build":"https://a.example/{id}"}]}]"#
    stage.dialects = DialectTable(rows: try DialectForm(name: "mine.json", bytes: rows.utf8).rows(isWhole: true))
    let line = #"{\#(Self.aps),"id":"1","t":"New"}"#
    #expect(try #require(stage.read(line).candidate).overrides.isEmpty == false)
    let decision = try stage.decide(line)
    #expect(decision.outcome == .fallback && decision.reason == .payloadPlace && decision.text(of: line) == line)
  }

  @Test func `a URL that is repeated without end has at most 256 places`() throws {
    var stage = try RewriteStage()
    stage.maximum = .unlimited
    let urls = repeatElement(#""https://a.example/1""#, count: 300).joined(separator: ",")
    let line = #"{\#(Self.aps),"attachments":[\#(urls)]}"#
    let twin = try stage.rewrite(line)
    #expect(twin.split(separator: try stage.address("https://a.example/1")).count == 1 + MediaSite.maximum)
  }

  // MARK: Addresses

  private static let digits = String(repeating: "3f", count: 32)

  @Test(arguments: [
    ("/3f/\(digits).png", true), ("/3f/\(digits).jpg", true), ("/3F/\(digits).png", false), ("/3e/\(digits).png", false),
    ("/3f/\(digits.uppercased()).png", false), ("/3f/\(digits).webp", false), ("/3f/\(digits).PNG", false), ("/3f/\(digits)", false),
    ("/3f/\(digits).png?x", false), ("/3f/\(digits).png#", false), ("/3f/\(digits).png/", false), ("//3f/\(digits).png", false),
    ("/3f/\(digits)0.png", false), ("3f/\(digits).png", false), ("/x/../3f/\(digits).png", false), ("", false), ("/", false),
    ("/3f/\(digits).png\u{301}", false), ("/%33f/\(digits).png", false), (".evil.example/3f/\(digits).png", false),
  ])
  func `only the exact form under the base is an address`(path: String, isAddress: Bool) {
    for base in [RewriteStage.base, RewriteStage.base + "/"] {
      #expect(StoreAddress(base: base).matches(UntrustedText(RewriteStage.base + path)) == isAddress)
    }
    #expect(!StoreAddress(base: RewriteStage.base).matches(UntrustedText("HTTPS://cdn.example/push" + path)))
    #expect(!StoreAddress(base: RewriteStage.base).matches(UntrustedText(" " + RewriteStage.base + path)))
  }

  // MARK: Hints

  @Test(arguments: [
    (#""ab":{"att":{"url":"<1>","type":"png"}}"#, MediaType.jpeg, #""ab":{"att":{"url":"<1>","type":"jpg"}}"#),
    (#""ab":{"att":{"url":"<1>","type":"jpeg"}}"#, .jpeg, #""ab":{"att":{"url":"<1>","type":"jpeg"}}"#),
    (#""ct_mediaUrl":"<1>","ct_mediaType":"image""#, .gif, #""ct_mediaUrl":"<1>","ct_mediaType":"image""#),
    (#""ct_mediaUrl":"<1>","ct_mediaType":"image""#, .mp3, #""ct_mediaUrl":"<1>","ct_mediaType":"audio""#),
    (#""ct_mediaUrl":"<1>","ct_mediaType":"video""#, .gif, #""ct_mediaUrl":"<1>","ct_mediaType":"gif""#),
    (#""image":{"url":"<1>","type":"image/png"}"#, .jpeg, #""image":{"url":"<1>","type":"image/jpeg"}"#),
    (#""image":{"url":"<1>","type":"image/*"}"#, .jpeg, #""image":{"url":"<1>","type":"image/*"}"#),
    (#""image":{"url":"<1>","type":"x/hero"}"#, .jpeg, #""image":{"url":"<1>","type":"x/hero"}"#),
    (#""_grinfo_":[{"url":"<1>","type":1}]"#, .mpeg4, #""_grinfo_":[{"url":"<1>","type":3}]"#),
    (#""_grinfo_":[{"url":"<1>","type":"1"}]"#, .mpeg4, #""_grinfo_":[{"url":"<1>","type":"3"}]"#),
    (#""image":{"url":"<1>","type":".png"}"#, .gif, #""image":{"url":"<1>","type":".gif"}"#),
    (#""image":{"url":"<1>","type":"public.png"}"#, .gif, #""image":{"url":"<1>","type":"com.compuserve.gif"}"#),
    (#""image":{"url":"<1>","type":"hero"}"#, .gif, #""image":{"url":"<1>","type":"hero"}"#),
    (#""image":{"url":"<1>","type":"photo"}"#, .mpeg4, #""image":{"url":"<1>","type":"video"}"#),
    // The dialect attaches pictures only, by the hint: another hint would hide the attachment.
    (#"\#(ntfy),"attachment_type":"IMAGE/webp""#, .jpeg, #"\#(ntfy),"attachment_type":"image/jpeg""#),
    (#"\#(ntfy),"attachment_type":"image/webp","image":"x""#, .mpeg4, #"\#(ntfy),"attachment_type":"image/webp","image":"x""#),
    (#""pushType":"Image","pushId":"1","mediaUrl":"<1>""#, .mpeg4, #""pushType":"Video","pushId":"1","mediaUrl":"<1>""#),
    (#""pushType":"Image","pushId":"1","mediaUrl":"<1>""#, .mp3, #""pushType":"Image","pushId":"1","mediaUrl":"<1>""#),
  ])
  func `a hint that is no longer true gets the vendor's word for the type`(members: String, type: MediaType, expected: String) throws {
    var stage = try RewriteStage()
    stage.type = type
    let line = try stage.twins("{\(Self.aps),\(members)}").line
    let twin = try stage.twins("{\(Self.aps),\(expected)}").twin
    #expect(try stage.rewrite(line) == twin)
    #expect(stage.read(twin).reason == .payloadEnriched)
  }
}
