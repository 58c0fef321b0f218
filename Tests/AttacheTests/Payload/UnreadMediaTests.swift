import Testing

@testable import Attache

/// Strings that look like media URLs, in payloads whose media nobody finds.
struct UnreadMediaTests {
  let reader = PayloadReader()

  private func place(_ members: String) -> String? {
    reader.read(candidateLine(members)).candidate?.unread?.place.description
  }

  @Test(
    arguments: [
      (#""cms":{"hero":{"url":"https://cdn.example/a.jpg"}}"#, "/cms/hero/url"),
      (#""urlImageString":"https://a.example/1""#, "/urlImageString"),
      (#""pic_url":"https:\/\/a.example\/b\/photo.JPG?w=1#f""#, "/pic_url"),
      (#""customInfo":{"imageLink":"HTTPS://a.example/x"}"#, "/customInfo/imageLink"),
      (#""x":"//a.example/b/film.mp4""#, "/x"), (#""HERO_LARGE":"//a.example/1""#, "/HERO_LARGE"),
      (#""x":"data:image/png;base64,aa""#, "/x"),
      (#""thumbnail_b64":"data:;base64,aa""#, "/thumbnail_b64"), (#""photos":["https://a.example/1"]"#, "/photos/0"),
      (#""a":[1,{"b~/c":" https://a.example/s.mp3"}]"#, "/a/1/b~0~1c"),
      (#""pictureSet":{"large":"https://a.example/1"}"#, "/pictureSet/large"),
      (#""img":"https://a.example/1""#, "/img"), (#""pic":"https://a.example/1""#, "/pic"), (#""thumb":"https://a.example/1""#, "/thumb"),
      (#""bannerUrl":"https://a.example/1""#, "/bannerUrl"), (#""videoUrl":"https://a.example/1""#, "/videoUrl"),
      (#""audioFile":"https://a.example/1""#, "/audioFile"), (#""user_pics":["https://a.example/1"]"#, "/user_pics/0"),
      (#""coverURL":"https://a.example/1""#, "/coverURL"), (#""bigPic":"https://a.example/1""#, "/bigPic"),
      (#""videoFile":{"src":"https://a.example/1"}"#, "/videoFile/src"),
      (#""link":"https://a.example/a.gif""#, "/link"), (#""card":{"icon":"https://a.example/a.png"}"#, "/card/icon"),
      (#""x":"http://a.example/p.webp""#, "/x"),
      (#""x":"https://a.example:8443/p.heic","y":"https://a.example/q.png""#, "/x"),
    ])
  func `a URL with a media extension, or under a word for a picture, is found`(members: String, place: String) {
    #expect(self.place(members) == place)
  }

  @Test(
    arguments: [
      #""link":"https://a.example/sale""#, #""url":"https://a.example/1""#, #""href":"//a.example/1""#, #""icon":"https://a.example/1""#,
      #""topic":"https://a.example/1""#, #""discover":"https://a.example/1""#, #""giftUrl":"https://a.example/1""#,
      #""epic":"https://a.example/1""#, #""bannerClickUrl":"https://a.example/1""#, #""image_action":"https://a.example/1""#,
      #""banner":{"url":"https://a.example/1"}"#, #""pictureSet":{"url":"https://a.example/1"}"#,
      #""photo":{"clickUrl":"https://a.example/1","link":"https://a.example/1"}"#,
      #""text":"see https://a.example/a.jpg""#,
      #""x":"ftp://a.example/a.jpg""#,
      #""x":"https://a.jpg""#, #""x":"https://a.example/a.html""#, #""x":"https://a.example/?f=a.jpg""#, #""x":"data:text/plain,aa""#,
      #""x":"https://""#,
      #""x":"// a.jpg""#, #""files":["a.jpg",7,null,true,""]"#, #""x":"https://a.example/a.jpg","x":1"#, #""deep-link":"app://a/b.jpg""#,
    ])
  func `other strings are not`(members: String) {
    #expect(place(members) == nil)
  }

  @Test func `Apple's own texts are no media, but a key of one's own in aps is`() {
    func place(_ aps: String) -> String? {
      reader.read(#"{"aps":{"mutable-content":1,\#(aps)}}"#).candidate?.unread?.place.description
    }
    #expect(place(#""alert":"https://a.example/a.jpg""#) == nil)
    #expect(place(#""alert":{"body":"https://a.example/a.jpg"},"content-state":{"image":"https://a.example/1"}"#) == nil)
    #expect(place(#""alert":{"body":"Hi","picture":"https://a.example/1"}"#) == "/aps/alert/picture")
    #expect(place(#""alert":"Hi","hero":"https://a.example/1""#) == "/aps/hero")
  }

  @Test func `a payload with media is not searched, nor one that is no candidate`() {
    #expect(place(#""image":"https://a.example/1","x":"https://a.example/a.jpg""#) == nil)
    #expect(reader.read(#"{"aps":{"alert":"Hi"},"x":"https://a.example/a.jpg"}"#) == .passthrough(.alert, .payloadNotMutable))
  }

  @Test(
    arguments: [
      (["cms", "hero", "url"], "--media-key cms.hero.url"), (["a", "0"], "--media-key a.0"), (["a.b", "c"], "--media-key /a.b/c"),
      (["it s"], "--media-key 'it s'"), (["it's"], "--media-key with that place"), (["a\u{1B}[2J"], "--media-key with that place"),
      (["/a"], "--media-key '/~1a'"),
      ([""], "--media-key /"),
    ])
  func `the sentence names the flag as a shell reads it`(parts: [String], flag: String) throws {
    let text = UnreadMedia(place: JSONPointer(parts: parts), cause: .unknownPlace).text
    #expect(text.hasSuffix("; \(flag) would"), "\(text)")
    #expect(text.unicodeScalars.allSatisfy(PrintableText.isPrintable))
    guard !flag.contains("with that"), let word = flag.split(separator: " ", maxSplits: 1).last else { return }
    #expect(try JSONPointer(path: word.filter { $0 != "'" }) == JSONPointer(parts: parts))
  }

  @Test func `the sender's picture is read, but is no attachment`() {
    #expect(place(#""icon":"https://a.example/a.png""#) == nil)
    #expect(place(#""icon":"https://a.example/a.png","hero":{"src":"https://a.example/1"}"#) == "/hero/src")
  }

  @Test func `no flag is named for a data URL`() {
    #expect(
      reader.read(candidateLine(#""inline":"data:image/png;base64,aa""#)).candidate?.unread?.text
        == "the data: URL at /inline is not read; serve the media over https, and write their URL")
  }

  @Test func `the flag that the sentence names reads the URL`() throws {
    let line = candidateLine(#""a.b":[{"pictures":"https://a.example/1"}]"#)
    let place = try #require(reader.read(line).candidate?.unread?.place)
    let payload = try #require(PayloadReader(dialects: DialectTable(mediaKeys: [place])).read(line).candidate)
    #expect(payload.urls == ["https://a.example/1"] && payload.unread == nil)
  }

  @Test func `a picture that is read is passed over a limited number of times`() {
    func place(copies: Int) -> String? {
      let names = (0..<copies).map { #""x\#($0)":"https://a.example/a.png""# }.joined(separator: ",")
      return self.place(#""icon":"https://a.example/a.png",\#(names),"y":"https://a.example/b.png""#)
    }
    #expect(place(copies: 100) == "/y")
    #expect(place(copies: 4_000) == nil)
  }

  @Test func `hostile payloads end the search early`() {
    let deep = String(repeating: #"{"image":"#, count: 100_000) + #""https://a.example/1""# + String(repeating: "}", count: 100_000)
    #expect(place(#""x":\#(deep)"#) == nil)
    #expect(place((0..<50_000).map { #""image_\#($0)":7"# }.joined(separator: ",") + #","x":"https://a.example/a.jpg""#) == nil)
    let name = String(repeating: "image", count: 1_000)
    #expect(place(#""\#(name)":"https://a.example/1""#) == nil)
    let twice = String(repeating: #""image_x":"https://a.example/a.jpg","#, count: 20_000) + #""image_x":7"#
    #expect(place(twice) == nil)
  }

  @Test func `an index counts all values, also numbers and empty containers`() {
    let url = #""https://a.example/a.jpg""#
    #expect(place(#""x":[1,-1,1.5,18446744073709551615,{},[],"",\#(url)]"#) == "/x/7")
    #expect(place(#""x":[[[],{}],{"a":{},"b":[1]},\#(url)]"#) == "/x/2")
  }

  @Test func `a URL that is too deep is left out, and one behind it is found`() {
    func nested(_ arrays: Int) -> String {
      String(repeating: "[", count: arrays) + #""https://a.example/a.jpg""# + String(repeating: "]", count: arrays)
    }
    #expect(place(#""x":\#(nested(31))"#) == "/x" + String(repeating: "/0", count: 31))
    #expect(place(#""x":\#(nested(32))"#) == nil)
    #expect(place(#""x":[\#(nested(40)),"https://a.example/a.jpg"]"#) == "/x/1")
    // The string is a step too.
    let path = String(repeating: "/0", count: 30)
    for (arrays, place) in [(30, "/x" + path), (31, nil)] {
      let text = #"{\"y\":\"https://a.example/a.jpg\"}"#
      let members = String(repeating: "[", count: arrays) + "\"\(text)\"" + String(repeating: "]", count: arrays)
      #expect(self.place(#""x":\#(members)"#) == place)
    }
  }

  @Test func `the search ends after 4,096 values`() {
    func place(zeros: Int) -> String? {
      self.place(#""x":[\#(String(repeating: "0,", count: zeros))"https://a.example/a.jpg"]"#)
    }
    // Beside them are aps and the four values in it, x and the URL.
    #expect(place(zeros: 4_096 - 7) == "/x/4089")
    #expect(place(zeros: 4_096 - 6) == nil)
  }

  @Test func `at most 128 strings are looked up, also if they hold JSON`() {
    func place(strings: Int) -> String? {
      self.place(#""x":[\#(String(repeating: #""[\"/\"]","#, count: strings))"https://a.example/a.jpg"]"#)
    }
    #expect(place(strings: 127) == "/x/127")
    #expect(place(strings: 128) == nil)
  }

  // MARK: - Around the payload

  @Test(
    arguments: [
      (
        #"{"message":{"notification":{"title":"Hi","imageUrl":"https://a.example/1"},"apns":{"payload":{"aps":{"mutable-content":1}}}}}"#,
        "/message/notification/imageUrl", "notification.image"
      ),
      (
        #"{"message":{"notification":{"title":"Hi"},"apns":{"fcmOptions":{"imageUrl":"https://a.example/1"},"payload":{"aps":{"mutable-content":1}}}}}"#,
        "/message/apns/fcmOptions/imageUrl", "apns.fcm_options.image"
      ),
      (
        #"{"to":"ExponentPushToken[a]","title":"Hi","mutableContent":true,"image":"https:\/\/a.example\/1"}"#, "/image", "richContent.image"
      ),
      (
        #"[{"to":"ExponentPushToken[a]","title":"Hi"},{"to":"ExponentPushToken[b]","title":"Hi","mutableContent":true,"image":"//a.example/1"}]"#,
        "/1/image", "richContent.image"
      ),
      (
        #"{"app_id":"1","contents":{"en":"Hi"},"mutable_content":true,"iosAttachments":{"id":"https://a.example/1"}}"#,
        "/iosAttachments/id", "ios_attachments"
      ),
      (
        #"{"notifications":[{"platform":1,"tokens":["a"],"message":"Hi","mutable_content":true,"image":"https://a.example/1"}]}"#,
        "/notifications/0/image", "data"
      ),
      (
        #"{"notification":{"title":"Hi","url":"https://a.example/a.jpg"},"apns":{"payload":{"aps":{"mutable-content":1}}}}"#,
        "/notification/url", "notification.image"
      ),
    ])
  func `a URL of the message that no device of Apple's gets is found, and its right place is named`(
    line: String, place: String, advice: String
  ) throws {
    let unread = try #require(reader.read(line).candidate?.unread)
    #expect(unread.place.description == place)
    #expect(unread.text.hasPrefix("the URL at \(place) reaches no device of Apple's; write it into "))
    #expect(unread.text.contains(advice))
  }

  @Test(
    arguments: [
      // The URL is a text that is shown.
      #"{"message":{"notification":{"body":"https://a.example/a.jpg"},"apns":{"payload":{"aps":{"mutable-content":1}}}}}"#,
      // Targets of a tap, and an icon.
      #"{"message":{"notification":{"body":"Hi"},"webpush":{"notification":{"icon":"https://a.example/a.png"}},"apns":{"payload":{"aps":{"mutable-content":1}}}}}"#,
      // The payload is in the message.
      #"{"message":{"apns":{"payload":{"aps":{"alert":{"body":"Hi","launch-image":"https://a.example/a.png"},"mutable-content":1}}}}}"#,
      // Another message of the request.
      #"[{"to":"ExponentPushToken[a]","title":"Hi","image":"https://a.example/1"},{"to":"ExponentPushToken[b]","title":"Hi","mutableContent":true}]"#,
    ])
  func `what is shown, what a tap opens, and what belongs to another message is not`(line: String) throws {
    let candidate = try #require(reader.read(line).candidate)
    #expect(candidate.unread == nil)
  }

  @Test(
    arguments: [
      (#""photo":"https//:a.example/1""#, "the text at /photo is no URL: "), (#""heroImage":"www.a.example/a.jpg""#, "has no scheme"),
      (#""photo":"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==""#, "base64"),
      (#""image":"/storage/photo.jpg""#, "a path without a host"), (#""picture":"photo.png""#, "a path without a host"),
      (#""heroImage":"downloads.a.example/pictures/1""#, "has no scheme"), (#""heroImage":"cdn.a.example/pictures/1""#, "has no scheme"),
      (#""image":"wp-content/pic.jpg?ver=3""#, "a path without a host"), (#""image":"media/pic.jpg?ver=3""#, "a path without a host"),
      (#""photo":"http:\\\\a.example""#, "the text at /photo is no URL: "),
      (#""hero":"{{image_url}}""#, "a placeholder"), (#""picture":"$(img)""#, "a placeholder"),
      (#""data":"{\"image\":\"https:\\/\\/a.example\\/1\"}""#, "the URL in the string at /data is not read"),
      (#""custom":{"x":"[{\"photo\":\"//a.example/1\"}]"}"#, "the URL in the string at /custom/x is not read"),
    ])
  func `a text under a word for a picture that is no URL, and JSON in a string, are named`(members: String, text: String) throws {
    let unread = try #require(reader.read(candidateLine(members)).candidate?.unread)
    #expect(unread.text.contains(text), "\(unread.text)")
  }

  @Test(
    arguments: [
      #""sound":"ping.mp3""#, #""photo":"a b.jpg""#, #""x":"www.a.example/a.jpg""#, #""image":"no picture""#, #""data":"{\"a\":1}""#,
      #""data":"{https://a.example/a.jpg""#, #""x":"{\"y\":\"{\\\"image\\\":\\\"https://a.example/1\\\"}\"}""#,
      #""image":"asset:a.png""#,
    ])
  func `other texts are not named`(members: String) {
    #expect(place(members) == nil)
  }
}
