import AttacheTesting
import Testing

@testable import Attache

/// Each sample of a dialect has a rewritten twin, alone and in each envelope: the dialects read the
/// public addresses from it at the same places, and nothing else differs.
struct RewriteTwinTests {
  private let dialects = DialectStage(DialectTable())

  /// A place for a payload in a line. `%` stands for the payload, `%%` for its members without
  /// `aps`; each `"` around them adds a level of escapes.
  private static let forms: [(form: String, levels: Int, path: JSONPointer?)] = [
    ("%", 0, nil), (#" { "message" : { "token":"t", "apns":{"payload":%}, "x":1e400 } } "#, 0, nil),
    (#"{"GCM":"{}","APNS":"%","APNS_SANDBOX":"%"}"#, 1, nil), (#"{"MessageStructure":"json","Message":"{\"APNS\":\"%\"}"}"#, 2, nil),
    (#"{"a":["\ud800",{"p":"%"}]}"#, 1, JSONPointer("a", "1", "p")), (#"{"a":[{"p":%}],"a\u0062":"\/"}"#, 0, JSONPointer("a", "0", "p")),
    (#"{"a":"{\"b\":\"%\"}"}"#, 2, JSONPointer("a", "b")),
  ]

  @Test(arguments: DialectSample.all, [MediaType.jpeg, .mpeg4, .mp3])
  func `the twin of a sample differs only in URLs and hints`(sample: DialectSample, type: MediaType) throws {
    var stage = try RewriteStage()
    stage.type = type
    let payload = try candidate(sample.payload)
    let before = dialects.media(payload).filter { $0.role == .attachment }
    for (form, levels, path) in Self.forms {
      stage.path = path
      let escaped = (0..<levels).reduce(Array(payload.utf8)) { bytes, _ in JSONString.escaped(bytes) }
      let line = form.replacing("%", with: String(decoding: escaped, as: UTF8.self))
      let decision = try stage.decide(line)
      let isPlaced = try #require(stage.read(line).candidate).sites.isEmpty == false
      guard isPlaced else {
        #expect(decision.text(of: line) == line)
        continue
      }
      let twin = decision.text(of: line)
      #expect(decision.outcome == .attached && twin != line)
      try expect(before, becoming: twin, of: line, stage)
    }
  }

  /// Checks a rewritten line against the references of its payload.
  private func expect(_ before: [MediaReference], becoming twin: String, of line: String, _ stage: RewriteStage) throws {
    let changes = try #require(LeafChange.all(Array(line.utf8), Array(twin.utf8)), "\(twin)")
    let candidate = try #require(stage.read(line).candidate)
    for change in changes {
      let site = try #require(candidate.sites.first { $0.written.string == change.before || $0.hint?.text.string == change.before })
      let isHint = site.hint?.text.string == change.before
      #expect(isHint ? change.after == site.hint?.replacement(for: stage.type)?.string : change.after == (try stage.address(site.media)))
    }
    guard case .passthrough(_, .payloadEnriched, _) = stage.read(twin) else {
      // Only URLs without a place are left, or none: ntfy's helper loads images only, and its hint
      // now says that the file is none.
      let rest = try #require(stage.read(twin).candidate).references.map(\.url)
      #expect(rest.allSatisfy { url in !candidate.sites.contains { $0.url == url } }, "\(twin)")
      #expect(!rest.isEmpty || candidate.dialect == "ntfy" && stage.type.kind != .image, "\(twin)")
      return
    }
    let after = try media(of: twin, stage).filter { $0.role == .attachment }
    #expect(after.map(\.path) == before.map(\.path))
    #expect(after.map(\.url.string) == (try before.map { try stage.address($0.url) }))
    for (reference, old) in zip(after, before) {
      #expect(reference.fallbacks.map(\.string) == (try old.fallbacks.map { _ in try stage.address(old.url) }))
      let isTrue = HintedType(of: reference)?.agrees(with: .type(stage.type)) ?? true
      #expect(isTrue || reference.isHintFixed || reference.typeHint == old.typeHint, "\(twin)")
    }
  }

  /// Reads the media of a line with the dialects alone, as inspection does.
  private func media(of line: String, _ stage: RewriteStage) throws -> [MediaReference] {
    let opener = LineOpener(path: stage.path)
    let segment = Segment(copying: Array(line.utf8), padding: PayloadReader.padding)
    return unsafe segment.withUnsafeBytes { bytes in
      guard case .payload(let payload) = unsafe opener.open(bytes) else { return [] }
      return DialectEngine(DialectTable()).references(in: payload, tracing: .paths).references
    }
  }

  /// A sample as a candidate: one that wakes no extension gets what it needs.
  private func candidate(_ payload: String) throws -> String {
    if PayloadReader().read(payload).candidate != nil { return payload }
    let text = JSONText(Array(payload.utf8))
    let change = MemberChange("aps", Array(#"{"alert":"Hi","mutable-content":1}"#.utf8))
    return String(decoding: LineEdit.apply(text.edits(of: text.root, [change]), to: payload.utf8), as: UTF8.self)
  }

  // MARK: Services that build the payload

  @Test(arguments: [
    #"{"message":{"notification":{"title":"T","image":"<1>"},"apns":{"payload":{"aps":{"mutable-content":1}}}}}"#,
    #"{"message":{"notification":{"title":"T"},"apns":{"fcm_options":{"image":"<1>"},"payload":{"aps":{"alert":"A","mutable-content":1}}}}}"#,
    #"{"message":{"data":{"im\u0061ge":"<1>"},"apns":{"payload":{"aps":{"alert":"A","mutable-content":1}}}}}"#,
    #"{"message":{"data":{"x":"y"},"apns":{"payload":{"aps":{"alert":"A","mutable-content":1},"image":"<1>"}}}}"#,
    #"{"notifications":[{"platform":1,"tokens":["t"],"message":"A","mutable_content":true,"data":{"image":"<1>"}},{"platform":2,"data":{"image":"x"}},{"platform":1,"tokens":["t"],"message":"B","mutable_content":true,"data":{"u":{"image":"n"},"image":"<2>"}}]}"#,
    #"{"app_id":"a","contents":{"en":"A"},"ios_attachments":{"b":"<1>","a":" <2> "},"data":{"q":"<1>"}}"#,
    #"{"to":"ExponentPushToken[x]","body":"A","mutableContent":true,"richContent":{"image":"<1>"}}"#,
    #"{"to":["ExponentPushToken[x]"],"body":"A","mutableContent":true,"data":{"image":"https://a.example/x","_richContent":{"image":"<1>"}}}"#,
  ])
  func `in a message that a service rebuilds, the URL is replaced where the sender wrote it`(marked: String) throws {
    let stage = try RewriteStage()
    let (line, _) = try stage.twins(marked)
    let twin = try stage.rewrite(line)
    let changes = try #require(LeafChange.all(Array(line.utf8), Array(twin.utf8)))
    let sites = stage.read(line).candidates.flatMap(\.sites)
    #expect(!changes.isEmpty && changes.count == sites.count)
    for (change, site) in zip(changes.sorted { $0.before < $1.before }, sites.sorted { $0.written.string < $1.written.string }) {
      #expect(change.before == site.written.string)
      #expect(change.after == (try stage.address(site.url)))
    }
    #expect(stage.read(twin).reason == .payloadEnriched, "\(twin)")
  }
}
