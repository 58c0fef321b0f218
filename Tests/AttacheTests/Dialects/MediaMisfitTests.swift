import Testing

@testable import Attache

/// Values with a URL that have another type than the vendor's helper reads.
struct MediaMisfitTests {
  private let stage = DialectStage(DialectTable())
  private static let custom = #""custom":{"i":"c"}"#

  @Test(arguments: [
    (
      #"\#(custom),"att":"https://a.example/1""#,
      #"/att is a string, but onesignal reads a dictionary there: write "att": {"id": "https://…"}"#
    ),
    (
      #"\#(custom),"att":"{\"id\": \"https:\/\/a.example/1\"}""#,
      #"/att is a string, but onesignal reads a dictionary there: write "att": {"id": "https://…"}"#
    ),
    (
      #"\#(custom),"att":[{"id":"https://a.example/1"}]"#,
      #"/att is an array, but onesignal reads a dictionary there: write "att": {"id": "https://…"}"#
    ),
    (
      #"\#(custom),"att":{"id":{"url":"https://a.example/1"}}"#,
      #"/att/id is a dictionary, but onesignal reads a string there: write "id": "https://…""#
    ),
    (
      #""fcm_options":"https://a.example/1""#,
      #"/fcm_options is a string, but firebase reads a dictionary there: write "fcm_options": {"image": "https://…"}"#
    ),
    (
      #""fcm_options":{"image":["https://a.example/1"]}"#,
      #"/fcm_options/image is an array, but firebase reads a string there: write "image": "https://…""#
    ),
    (
      #""ab":{"att":"https://a.example/1"}"#, #"/ab/att is a string, but braze reads a dictionary there: write "att": {"url": "https://…"}"#
    ),
    (
      #""_grinfo_":{"url":"https://a.example/1"}"#,
      #"/_grinfo_ is a dictionary, but getui reads an array there: write "_grinfo_": [{"url": "https://…"}]"#
    ),
    (
      #""notifee_options":{"ios":{"attachments":{"url":"https://a.example/1"}}}"#,
      #"/notifee_options/ios/attachments is a dictionary, but notifee reads an array there: write "attachments": [{"url": "https://…"}]"#
    ),
    (
      #""_wp":{"attachments":"https://a.example/1"}"#,
      #"/_wp/attachments is a string, but wonderpush reads an array there: write "attachments": [{"url": "https://…"}]"#
    ),
    (
      #""_wp":{"attachments":["https://a.example/1"]}"#,
      #"/_wp/attachments/0 is a string, but wonderpush reads a dictionary there: write {"url": "https://…"}"#
    ),
    (
      #""body":{"_richContent":"https://a.example/1"}"#,
      #"/body/_richContent is a string, but expo reads a dictionary there: write "_richContent": {"image": "https://…"}"#
    ),
  ])
  func `the sentence shows the form that the row reads`(members: String, sentence: String) throws {
    let media = stage.media("{\(members)}")
    #expect(media.map { $0.misfit.map { $0.sentence(at: $0.place) } } == [sentence])
    #expect(media.first?.refusal == .payloadForm)
  }

  @Test(arguments: [
    #""ab":"B""#, #""ab":7"#, #""fcm_options":{"image":7}"#, #""fcm_options":{"image":"https://a.example/1"},"ab":"https://a.example/2""#,
    #""att":"https://a.example/1""#, #""image":{"src":"https://a.example/1"}"#, #""attachments":7"#, #""body":"see https://a.example""#,
  ])
  func `a value without a URL, or at a place of no vendor, is none`(members: String) {
    #expect(stage.media("{\(members)}").allSatisfy { $0.misfit == nil })
  }

  @Test(arguments: [
    (#""image":"https://a.example/1","ab":{"att":"https://a.example/1"}"#, ["/ab/att"]),
    (#""icon":"https://a.example/1","ab":{"att":"https://a.example/2"}"#, ["/ab/att"]),
    (#""att":"https://a.example/1","custom":{"i":"c"},"_grinfo_":{"url":"https://a.example/2"}"#, ["/att", "/_grinfo_"]),
    (#""_wp":{"attachments":[{"url":"https://a.example/1"},["https://a.example/2"]]}"#, ["/_wp/attachments/1"]),
    (#""image":"https://a.example/1""#, []), (#""ab":{"att":{"url":"https://a.example/1"}}"#, []),
  ])
  func `values of the wrong type are found beside others`(members: String, places: [String]) {
    #expect(Set(stage.misfits("{\(members)}").map(\.place.description)) == Set(places))
  }

  @Test func `a payload with only the sender's picture has a misfit too`() {
    #expect(stage.media(#"{"icon":"https://a.example/1","ab":{"att":"https://a.example/2"}}"#).map(\.refusal) == [nil, .payloadForm])
  }

  @Test(arguments: DialectSample.all.filter { !$0.media.isEmpty })
  func `a sample with media has no value of the wrong type`(sample: DialectSample) {
    #expect(stage.misfits(sample.payload).map { $0.sentence(at: $0.place) } == [])
  }

  /// Each vendor's own sample with its media in another type: at each step of each path, what stands there
  /// goes into a string.
  @Test(arguments: Dialect.builtInMedia.filter { $0.precedence == .vendor }.map(\.name))
  func `every row finds its media in the wrong type`(name: String) throws {
    let row = try #require(Dialect.builtInMedia.first { $0.name == name })
    for source in row.media.joined() where source.role == .attachment && source.json == nil && source.when.isEmpty {
      guard case .url(let path) = source.origin, !source.takesAnyForm else { continue }
      // Conditions of the row on other members are fulfilled by it being the only row.
      let alone = DialectStage(DialectTable(rows: [Self.unconditional(row, source)]))
      let payload = path.parts.reversed().reduce(#"{"url":"https://a.example/1"}"#) { inner, part in
        switch part {
        case .child(let token): token.index == nil ? #"{"\#(token.text)":\#(inner)}"# : "[\(inner)]"
        case .elements: "[\(inner)]"
        case .members: #"{"id":\#(inner)}"#
        }
      }
      #expect(alone.media(payload).map { $0.misfit != nil } == [true], "\(payload)")
    }
  }

  private static func unconditional(_ row: Dialect, _ source: MediaSource) -> Dialect {
    var alone = row
    (alone.when, alone.media) = ([], [[source]])
    return alone
  }
}
