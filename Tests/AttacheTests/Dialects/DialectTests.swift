import Attache
import Testing

/// What the built-in dialects find.
struct DialectTests {
  let reader = PayloadReader()

  @Test func `Firebase names one image`() throws {
    let payload = try read(#""gcm.message_id":"1600729266683649","fcm_options":{"image":"https://media.example/fcm/banner.png"}"#)
    #expect(payload.references == [MediaReference(url: "https://media.example/fcm/banner.png", identifier: "")])
    #expect(payload.dialect == "firebase")
  }

  @Test(arguments: [
    #"{"image":{"oops":1}}"#, #"{"image":["logo"]}"#, #"{"image":""}"#, "{}", "1", "null",
  ])
  func `Firebase takes nothing but a string`(options: String) throws {
    let payload = try read(#""fcm_options":\#(options)"#)
    #expect(payload.references.isEmpty && payload.dialect == nil)
  }

  @Test func `Firebase takes any string`() throws {
    #expect(try read(#""fcm_options":{"image":"logo"}"#).urls == ["logo"])
  }

  @Test(arguments: [
    "image", "attachment-url", "image_url", "imageUrl", "video-url", "attachment", "image-url", "imageURL", "video", "audio", "mp4",
    "thumbnailUrl", "remoteImageUrl", "gcm.notification.image", "media-url", "attachments",
  ])
  func `a generic key is looked at`(key: String) throws {
    let payload = try read(#""\#(key)":"https://media.example/g/a""#)
    #expect(payload.urls == ["https://media.example/g/a"])
    #expect(payload.dialect == "generic")
  }

  @Test(arguments: ["my-image", "Image", "picture", "url", "icon", "fcm_options.image", "mediaUrl"])
  func `a key of one's own is not`(key: String) throws {
    #expect(try read(#""\#(key)":"https://media.example/g/a""#).references.isEmpty)
  }

  @Test func `the tutorials' place inside aps is looked at, with its hint`() throws {
    let aps = #"{"alert":"Hi","mutable-content":1,"data":{"attachment-url":"https://a.example/1","media-type":"video"}}"#
    let payload = try #require(reader.read(#"{"aps":\#(aps)}"#).candidate)
    var expected = MediaReference(url: "https://a.example/1", typeHint: "video")
    expected.hintKind = .mediaClass
    #expect(payload.references == [expected])
    #expect(try read(#""media-type":"png","attachment-url":"https://a.example/2""#).references.first?.typeHint == "png")
  }

  @Test(arguments: [
    #""logo""#, #""///a/1""#, #""a/b.png""#, #""/9j.png""#, #""www""#, #""http/2.png""#, #""hero.sprite.png""#, #""data""#,
    #""iVBORw0KGgo""#, #""""#, "null", "1", "true", "{}", "[]", #"[["https://a.example/1"]]"#,
    #"{"uri":"https://a.example/1"}"#,
  ])
  func `under a generic key only a URL counts`(value: String) throws {
    #expect(try read(#""image":\#(value)"#).references.isEmpty)
  }

  @Test(arguments: [#""http://169.254.169.254/latest/meta-data/""#, #""file:///etc/passwd""#, #""HTTPS://A.EXAMPLE/""#, #""https:// a""#])
  func `a hostile URL is a reference, for the gate to refuse`(value: String) throws {
    #expect(try read(#""image":\#(value)"#).references.count == 1)
  }

  @Test func `several generic keys are taken in the table's order, each URL once`() throws {
    let payload = try read(
      #""audio":"https://a.example/3","video":"https://a.example/2","image":"https://a.example/1","mp4":"https://a.example/2""#)
    #expect(payload.urls == ["https://a.example/1", "https://a.example/2", "https://a.example/3"])
  }

  @Test func `a specific dialect beats the generic keys`() throws {
    let payload = try read(#""image":"https://a.example/1","fcm_options":{"image":"https://a.example/2"}"#)
    #expect(payload.urls == ["https://a.example/2"])
    #expect(payload.dialect == "firebase")
    let fallen = try read(#""image":"https://a.example/1","fcm_options":{"image":7}"#)
    #expect(fallen.urls == ["https://a.example/1"])
    #expect(fallen.dialect == "generic")
  }

  private func read(_ members: String) throws -> Payload {
    try #require(reader.read(candidateLine(members)).candidate)
  }
}
