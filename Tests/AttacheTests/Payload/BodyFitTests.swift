import Testing

@testable import Attache

/// The body of a payload that would be too large with its attachments is cut: `--fit-payload`.
struct BodyFitTests {
  private static let media = #""image":"https://a.example/1""#

  private static func stage(_ form: Attache.FilterConfiguration.AttachmentForm = .member) throws -> RewriteStage {
    var stage = try RewriteStage()
    stage.form = form
    stage.fits = true
    return stage
  }

  /// Decides a line whose payload is larger than its limit by a number of bytes.
  private static func decide(
    _ line: String, over excess: Int, _ stage: RewriteStage, change: (inout NotificationContent) -> Void = { _ in }
  ) throws -> (decision: Decision, limit: Int) {
    var stage = stage
    stage.maximum = .unlimited
    let limit = try #require(stage.decide(line, change: change).payloadCount) - excess
    stage.maximum = .bytes(limit)
    return (try stage.decide(line, change: change), limit)
  }

  /// The size of the first payload as APNs receives it.
  private static func sentSize(of line: String, path: JSONPointer? = nil) -> Int? {
    let opener = LineOpener(path: path)
    let bytes = Array(line.utf8)
    return unsafe (bytes + Array(repeating: 0, count: PayloadReader.padding)).withUnsafeBytes { padded in
      let text = unsafe UnsafeRawBufferPointer(rebasing: padded[..<bytes.count])
      guard case .payload = unsafe opener.open(text) else { return nil }
      return unsafe opener.payload(in: text).count
    }
  }

  private static let alerts = [#""alert":"<body>""#, #""alert" : {"body":"no","title":"T", "b\u006fdy" : "<body>" ,"loc-args":[]}"#]

  @Test(arguments: [
    ("Hello wonderful", 1, "Hello wonde…"), ("Hello wonderful", 3, "Hello won…"), ("Hello wonderful", 11, "H…"), ("Hello", 1, "H…"),
    ("Hello wonderful", 12, nil), ("Hello", 2, nil), ("Hello", 900, nil), ("H", 1, nil),
    // A blank before the ellipsis is dropped, however it is written.
    ("Hello  wonderful", 6, "Hello…"), (#"Hi\n\u00a0there you are"#, 15, "Hi…"), ("  wonderful", 3, "  won…"), ("   wonderful", 5, "   w…"),
    ("   wonderful", 6, nil),
    // Emoji, flags and accents stay whole.
    ("Hi 👨‍👩‍👧 you", 1, "Hi 👨‍👩‍👧…"), ("Hi 👨‍👩‍👧 you", 2, "Hi…"), ("🇩🇪🇫🇷xxxx", 2, "🇩🇪…"), ("e\u{301}xyzuvw", 3, "e\u{301}…"),
    ("e\u{301}xyzuvw", 5, nil),
    // Escapes stay whole, and as they are written.
    (#"Hi \ud83d\ude00 there"#, 3, #"Hi \ud83d\ude00…"#), (#"Hi \ud83d\ude00 there"#, 4, "Hi…"), (#"e\u0301bcdefgh"#, 4, #"e\u0301…"#),
    (#"e\u0301bcdefgh"#, 5, nil), (#"ab\"cdefgh"#, 3, #"ab\"…"#), (#"ab\"cdefgh"#, 4, "ab…"), (#"\u0041\/\u0042cdefg"#, 3, #"\u0041\/…"#),
    (#"\ud83d\udc68\u200d\ud83d\udc69 yes"#, 1, #"\ud83d\udc68\u200d\ud83d\udc69…"#), (#"\ud83d\udc68\u200d\ud83d\udc69 yes"#, 2, nil),
    // Half a pair is a letter of its own.
    (#"ab\ud83dcdefgh"#, 3, #"ab\ud83d…"#), (#"ab\ud83dcdefgh"#, 4, "ab…"), (#"\ude00\ud83dxyzuv"#, 2, #"\ude00\ud83d…"#),
    (#"\ude00\ud83dxyzuv"#, 3, #"\ude00…"#),
  ])
  func `the longest body that fits ends with an ellipsis, and all else stays`(body: String, excess: Int, cut: String?) throws {
    for alert in Self.alerts {
      for form in [Attache.FilterConfiguration.AttachmentForm.member, .url, .both] {
        func line(_ body: String) -> String {
          #"{"aps":{"mutable-content":1,\#(alert.replacing("<body>", with: body))}, \#(Self.media) }"#
        }
        var stage = try Self.stage(form)
        let (decision, limit) = try Self.decide(line(body), over: excess, stage)
        let text = decision.text(of: line(body))
        guard let cut else {
          #expect(decision.reason == .payloadMaximum && decision.outcome == .fallback && text == line(body))
          #expect(decision.bodyCut == nil && decision.payloadCount == limit + excess)
          continue
        }
        #expect(decision.outcome == .attached && decision.reason == nil)
        (stage.fits, stage.maximum) = (false, .unlimited)
        #expect(try text == stage.decide(line(cut)).text(of: line(cut)))
        #expect(text.utf8.count <= limit && decision.payloadCount == text.utf8.count)
      }
    }
  }

  @Test func `a payload that fits is not cut, and the flag is off by default`() throws {
    var stage = try Self.stage()
    let line = #"{"aps":{"alert":"Hello wonderful","mutable-content":1},\#(Self.media)}"#
    let fits = try Self.decide(line, over: 0, stage).decision
    #expect(fits.outcome == .attached && fits.bodyCut == nil && fits.text(of: line).hasPrefix(line.dropLast()))
    #expect(try Self.decide(line, over: 1, stage).decision.bodyCut == BodyCut(from: 15, to: 14))
    stage.fits = false
    #expect(try Self.decide(line, over: 1, stage).decision.reason == .payloadMaximum)
    #expect(!Attache.FilterConfiguration().fitsPayload)
  }

  @Test func `a payload that is too large before anything is attached is cut, too`() throws {
    var stage = try Self.stage()
    let body = String(repeating: "ab ", count: 2_000)
    let line = #"{"aps":{"alert":"\#(body)","mutable-content":1},\#(Self.media)}"#
    stage.maximum = .automatic
    let decision = try stage.decide(line)
    let text = decision.text(of: line)
    #expect(decision.outcome == .attached && (4_094...4_096).contains(text.utf8.count) && text.contains(#"b…","mutable-content""#))
    #expect(decision.bodyCut?.from == 6_000 && decision.payloadCount == text.utf8.count)
    // Nothing is attached, so the line is none of attache's business.
    stage.isAttached = { _ in false }
    #expect(try stage.decide(line).text(of: line) == line)
  }

  @Test(arguments: [
    #""alert":{"title":"A title that nobody cuts"}"#, #""alert":{"loc-key":"KEY","loc-args":["A long argument"]}"#,
    #""alert":{"title":"A title","body":""}"#, #""alert":{"title":"A title","body":{"a":"an object, not a text"}}"#,
  ])
  func `without a body nothing is cut`(alert: String) throws {
    let line = #"{"aps":{\#(alert),"mutable-content":1},\#(Self.media)}"#
    let decision = try Self.decide(line, over: 1, Self.stage()).decision
    #expect(decision.reason == .payloadMaximum && decision.text(of: line) == line)
  }

  @Test func `one cluster of a megabyte is never divided`() throws {
    let marks = String(repeating: "\u{301}", count: 450_000)
    let elapsed = try ContinuousClock().measure {
      for (body, cut) in [("e" + marks, nil), ("xe" + marks, "x…"), (marks, nil), (String(repeating: "👩\u{200D}", count: 100_000), nil)] {
        let line = #"{"aps":{"alert":"\#(body)","mutable-content":1},\#(Self.media)}"#
        let (decision, _) = try Self.decide(line, over: body.utf8.count - 10, Self.stage())
        guard let cut else {
          #expect(decision.reason == .payloadMaximum)
          continue
        }
        #expect(decision.text(of: line).hasPrefix(#"{"aps":{"alert":"\#(cut)","mutable"#))
      }
    }
    #expect(elapsed < .seconds(10))
  }

  @Test func `the result is that of the letters counted one by one`() throws {
    let letters = ["a", " ", "é", "e\u{301}", "😀", "👨‍👩‍👧", "🇩🇪", "漢", "\u{1100}\u{1161}", "क्षि", "\r\n", "\u{600}1", "\u{200D}"].map {
      $0.replacing("\r\n", with: #"\r\n"#)
    }
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<2_000 {
      let body = (0..<Int.random(in: 1...12, using: &generator)).map { _ in letters.randomElement(using: &generator) ?? "" }.joined()
      let excess = Int.random(in: 1...20, using: &generator)
      let source = Array(body.utf8)
      let cut = CutString(0..<source.count, in: source.span, freeing: excess)
      let decoded = String(decoding: JSONString.unescaped(source.span, 0..<source.count), as: UTF8.self)
      var longest = ""
      for end in decoded.indices {
        let head = String(decoded[..<end])
        // A carriage return and a line feed are written with four bytes.
        let width = head.utf8.reduce(0) { $0 + ($1 < 0x20 ? 2 : 1) }
        let isBlank = head.last?.unicodeScalars.allSatisfy(\.properties.isWhitespace) ?? true
        if width <= source.count - excess - 3, !isBlank { longest = head }
      }
      let kept = cut.map { String(decoding: JSONString.unescaped(source.span, 0..<$0.range.lowerBound), as: UTF8.self) }
      #expect(Array((kept ?? "").utf8) == Array(longest.utf8), "\(body.debugDescription), \(excess)")
      if let cut { #expect(cut.freed >= excess && cut.sizes.from == decoded.utf8.count && cut.sizes.to == longest.utf8.count + 3) }
    }
  }

  // MARK: Envelopes

  private static let aps = #"\"aps\":{\"alert\":\"<body>\",\"mutable-content\":1},\"image\":\"https:\/\/a.example\/1\""#

  @Test(arguments: [
    (#"{"APNS":"{\#(aps)}"}"#, nil), (#"{"APNS_SANDBOX":"{\#(aps)}","APNS":"{\#(aps)}"}"#, nil),
    (#"{"token":"t","platform":1,"message":"<body>","mutable_content":true,"data":{\#(media)}}"#, nil),
    (#"{"token":"t","platform":1,"title":"T","message":"<body>","mutable_content":true,"data":{\#(media)}}"#, nil),
    (#"{"token":"t","platform":1,"alert":{"body":"<body>"},"mutable_content":true,"data":{\#(media)}}"#, nil),
    (#"{"to":"ExponentPushToken[x]","body":"<body>","mutableContent":true,"richContent":{\#(media)}}"#, nil),
    (#"{"message":{"token":"t","apns":{"payload":{"aps":{"alert":{"body":"<body>"},"mutable-content":1},\#(media)}}}}"#, nil),
    (#"{"message":{"token":"t","data":{"a":"b"},"apns":{"payload":{"aps":{"alert":"<body>","mutable-content":1},\#(media)}}}}"#, nil),
    (#"{"push":{"aps":{"alert":"<body>","mutable-content":1},\#(media)}}"#, JSONPointer("push")),
    (#"{"push":"{\#(aps)}"}"#, JSONPointer("push")),
  ])
  func `in an envelope the body is cut where its sender wrote it`(marked: String, path: JSONPointer?) throws {
    // In a string, each backslash of an escape has another.
    let isInString = marked.contains(#"\"aps\""#)
    func line(_ body: String) -> String {
      marked.replacing("<body>", with: isInString ? body.replacing(#"\"#, with: #"\\"#) : body)
    }
    let (body, cut) = (#"Hi \ud83d\ude00 there, é"#, #"Hi \ud83d\ude00…"#)
    for form in [Attache.FilterConfiguration.AttachmentForm.member, .url] {
      var stage = try Self.stage(form)
      stage.path = path
      let (decision, limit) = try Self.decide(line(body), over: 6, stage)
      let text = decision.text(of: line(body))
      (stage.fits, stage.maximum) = (false, .unlimited)
      #expect(try text == stage.decide(line(cut)).text(of: line(cut)))
      let count = try #require(decision.payloadCount)
      #expect(Self.sentSize(of: text, path: path) == count && count <= limit)
      #expect(decision.bodyCut == BodyCut(from: 17, to: 10))
    }
  }

  @Test func `a text for all devices stays, and Apple's get an alert of their own`() throws {
    let texts = #"{"title":"T","body":"Hello wonderful"}"#
    let line = #"{"message":{"token":"t","notification":\#(texts),"apns":{"payload":{"aps":{"mutable-content":1},\#(Self.media)}}}}"#
    let (decision, limit) = try Self.decide(line, over: 3, Self.stage())
    let text = decision.text(of: line)
    let alert = #""aps":{"mutable-content":1,"alert":{"title":"T","body":"Hello won…"}}"#
    #expect(text.contains(#""notification":\#(texts)"#) && text.contains(alert))
    #expect(decision.payloadCount == limit && Self.sentSize(of: text) == limit)
  }

  @Test func `a request that gives its texts by language stays`() throws {
    let line = #"{"app_id":"a","contents":{"en":"Hello wonderful"},"ios_attachments":{"i":"https://a.example/1"}}"#
    let decision = try Self.decide(line, over: 3, Self.stage()).decision
    #expect(decision.reason == .payloadMaximum && decision.text(of: line) == line)
  }

  @Test func `each message of a list is cut for itself, and the record has their sum`() throws {
    let message = #"{"to":"ExponentPushToken[x]","body":"<body>","mutableContent":true,"richContent":{"image":"https://a.example/1"}}"#
    let (long, short) = (message.replacing("<body>", with: "Hello wonderful"), message.replacing("<body>", with: "Hello"))
    var stage = try Self.stage()
    let limit = try Self.decide(long, over: 3, stage).limit
    stage.maximum = .bytes(limit)
    let line = "[\(long),\(short),\(long)]"
    let decision = try stage.decide(line)
    #expect(decision.text(of: line).split(separator: "Hello won…").count == 3 && decision.bodyCut == BodyCut(from: 30, to: 24))
  }

  // MARK: Other changes

  @Test func `the body that the service extension writes is cut`() throws {
    let line = #"{"aps":{"alert":"Hi","mutable-content":1},\#(Self.media)}"#
    let (decision, limit) = try Self.decide(line, over: 5, Self.stage()) { ($0.title, $0.body) = ("T", "Hello \"wonderful\"") }
    let text = decision.text(of: line)
    #expect(text.hasPrefix(#"{"aps":{"alert":{"title":"T","body":"Hello \"won…"},"#) && text.utf8.count <= limit)
    #expect(decision.payloadCount == text.utf8.count && decision.changed == ["/aps/alert/title", "/aps/alert/body"])
  }

  @Test func `the body is cut beside a title that changes`() throws {
    for alert in [#""Hello wonderful""#, #"{"title":"A","body":"Hello wonderful"}"#] {
      let line = #"{"aps":{"alert":\#(alert),"mutable-content":1},\#(Self.media)}"#
      let (decision, limit) = try Self.decide(line, over: 3, Self.stage()) { $0.title = "T" }
      let text = decision.text(of: line)
      #expect(text.hasPrefix(#"{"aps":{"alert":{"title":"T","body":"Hello won…"},"#) && text.utf8.count == limit)
      #expect(decision.payloadCount == limit)
    }
  }

  @Test func `a body that the service extension removes is not cut`() throws {
    let line = #"{"aps":{"alert":{"title":"T","body":"Hello wonderful"},"mutable-content":1},\#(Self.media)}"#
    let decision = try Self.decide(line, over: 3, Self.stage()) { $0.body = "" }.decision
    #expect(decision.reason == .payloadMaximum && decision.text(of: line) == line)
  }

  @Test func `a body that is the media's URL is not cut`() throws {
    var stage = try Self.stage(.url)
    stage.dialects = try DialectTable(names: nil, mediaKeys: [JSONPointer(path: "aps.alert.body")], files: [], isStrict: false)
    let line = #"{"aps":{"alert":{"body":"https://a.example/1"},"mutable-content":1}}"#
    let decision = try Self.decide(line, over: 3, stage).decision
    #expect(decision.reason == .payloadMaximum && decision.text(of: line) == line)
  }

  @Test func `the record has the lengths of the body before and after`() throws {
    let line = #"{"aps":{"alert":"Hello wonderful","mutable-content":1},\#(Self.media)}"#
    var text: [UInt8] = []
    let decision = try Self.decide(line, over: 3, Self.stage()).decision
    ReportRecord(line: 1, decision: decision, elapsed: .zero).write(to: &text, showing: .short)
    #expect(String(decoding: text, as: UTF8.self).contains(#""body_cut":{"from":15,"to":12}"#))
    var late = decision
    late.fallBack(.deadline)
    text = []
    ReportRecord(line: 1, decision: late, elapsed: .zero).write(to: &text, showing: .short)
    #expect(!String(decoding: text, as: UTF8.self).contains("body_cut"))
  }
}
