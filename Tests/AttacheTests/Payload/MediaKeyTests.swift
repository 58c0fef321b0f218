import Attache
import Testing

/// Paths that the user gives with `--media-key`.
struct MediaKeyTests {
  @Test(arguments: [
    ("my-image", #""my-image":"https://a.example/1""#), ("data.image", #""data":{"image":"https://a.example/1"}"#),
    ("/data/image", #""data":{"image":"https://a.example/1"}"#), ("list.1.url", #""list":[0,{"url":"https://a.example/1"}]"#),
    ("list", #""list":["https://a.example/1"]"#), ("list", #""list":[7,null,"",{"url":""},{"url":"https://a.example/1"},[]]"#),
    ("one", #""one":{"url":"https://a.example/1"}"#), ("/a.b/~0", #""a.b":{"~":"https://a.example/1"}"#),
    ("d.x", #""d":{"x":"https://a.example/0"},"d":{"x":"https://a.example/0","x":"https://a.example/1"}"#),
  ])
  func `a media key finds a string, an array or objects with a URL`(key: String, members: String) throws {
    let payload = try read(members, keys: [key])
    #expect(payload.urls == ["https://a.example/1"])
    #expect(payload.dialect == "media-key")
  }

  @Test func `a string that is no URL is a reference all the same`() throws {
    #expect(try read(#""k":["logo"," ","/x"]"#, keys: ["k"]).urls == ["logo", "/x"])
  }

  @Test(arguments: [
    #""""#, "null", "7", "true", "{}", "[]", #"{"uri":"https://a.example/1"}"#, #"{"url":7}"#, #"[["https://a.example/1"]]"#,
  ])
  func `what is empty or of another type is absent`(value: String) throws {
    #expect(try read(#""k":\#(value)"#, keys: ["k", "k.x", "k.0.0.0", "/k/url/y"]).references.isEmpty)
  }

  @Test func `media keys come first, in their order, and add to the dialects`() throws {
    let members = #""b":"https://a.example/b","a":"https://a.example/a","image":"https://a.example/image""#
    let payload = try read(members, keys: ["a", "b"])
    #expect(payload.urls == ["https://a.example/a", "https://a.example/b", "https://a.example/image"])
    #expect(payload.dialect == "media-key")
    let vendor = try read(members + #","fcm_options":{"image":"https://a.example/fcm"}"#, keys: ["a"])
    #expect(vendor.urls == ["https://a.example/a", "https://a.example/fcm"])
  }

  @Test func `an object says its identifier, its type and its options`() throws {
    let object =
      #"{"url":"https://a.example/1","identifier":"hero","type":"public.png","options":"#
      + #"{"thumbnailHidden":true,"thumbnailClippingRect":{"x":0,"y":0.25,"width":1,"height":0.5},"thumbnailTime":2}}"#
    let options = AttachmentOptions(
      thumbnailHidden: true, thumbnailClippingRect: ClippingRect(x: 0, y: 0.25, width: 1, height: 0.5), thumbnailTime: 2)
    var expected = MediaReference(url: "https://a.example/1", identifier: "hero", typeHint: "public.png", options: options)
    expected.hintKind = .uniformType
    #expect(try read(#""k":[\#(object),\#(object)]"#, keys: ["k"]).references == [expected])
  }

  @Test(arguments: [
    #""identifier":"","type":null"#, #""identifier":7,"type":[],"options":true"#,
    #""options":{"thumbnailHidden":1,"thumbnailTime":-1,"thumbnailClippingRect":{"x":0,"y":0,"width":1}}"#,
    #""options":{"thumbnailTime":"2","thumbnailClippingRect":{"x":0,"y":0,"width":1,"height":1.5}}"#,
    #""options":{"thumbnailClippingRect":{"x":-0.1,"y":0,"width":1,"height":1}}"#,
    #""options":{"thumbnailClippingRect":[0,0,1,1]}"#,
  ])
  func `wrong types and values out of range say nothing`(members: String) throws {
    #expect(
      try read(#""k":{"url":"https://a.example/1",\#(members)}"#, keys: ["k"]).references == [MediaReference(url: "https://a.example/1")])
  }

  @Test func `of one URL under several keys the first stays`() throws {
    let payload = try read(#""a":"https://a.example/1","b":{"url":"https://a.example/1","identifier":"late"}"#, keys: ["a", "b"])
    #expect(payload.references == [MediaReference(url: "https://a.example/1")])
  }

  private func read(_ members: String, keys: [String]) throws -> Payload {
    let pointers = try keys.map { try JSONPointer(path: $0) }
    let reader = PayloadReader(dialects: DialectTable(mediaKeys: pointers))
    return try #require(reader.read(candidateLine(members)).candidate)
  }
}
