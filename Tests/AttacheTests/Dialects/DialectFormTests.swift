import Testing

@testable import Attache

/// The features of a row of the table, one each.
struct DialectFormTests {
  @Test(arguments: [
    (#"{"url":"a.b"}"#, #"{"a":{"b":"u"}}"#, ["u"]),
    (#"{"url":"/a.b/c~1d"}"#, #"{"a.b":{"c/d":"u"}}"#, ["u"]),
    (#"{"url":"a.1"}"#, #"{"a":["u","v"]}"#, ["v"]),
    (#"{"url":"a.[].b"}"#, #"{"a":[{"b":"u"},{"b":1},3,{"b":"v"}]}"#, ["u", "v"]),
    (#"{"url":"a[].b"}"#, #"{"a":[{"b":"u"}]}"#, ["u"]),
    (#"{"url":"[].b"}"#, #"{"a":"u"}"#, []),
    (#"{"url":"a.{}"}"#, #"{"a":{"z":"1","b":"2","é":"3","B":"4"}}"#, ["4", "2", "1", "3"]),
    (#"{"url":"a.{}"}"#, #"{"a":{"z":"1","z":"2"}}"#, ["2"]),
    (#"{"url":"a{}"}"#, #"{"a":{"z":"1","b":"2"}}"#, ["2", "1"]),
    (#"{"url":"a{}.u"}"#, #"{"a":{"z":{"u":"1"},"b":{"u":"2"}}}"#, ["2", "1"]),
    (#"{"url":"a[]{}"}"#, #"{"a":[{"z":"1","b":"2"},{"c":"3"}]}"#, ["2", "1", "3"]),
    (#"{"url":"/a{}"}"#, #"{"a{}":"u","a":{"z":"1"}}"#, ["u"]),
    (#"{"url":"{}.u"}"#, #"{"b":{"u":"1"},"a":{"u":"2"}}"#, ["2", "1"]),
    (#"{"url":"a"}"#, #"{"a":["u"]}"#, []),
    (#"{"url":"a","form":"any"}"#, #"{"a":["u",{"url":"v"},{"uri":"w"},["x"],null]}"#, ["u", "v"]),
    (#"{"url":"a","needs_scheme":true}"#, #"{"a":"logo"}"#, []),
    (#"{"url":"a"}"#, #"{"a":" u\t"}"#, ["u"]),
    (#"{"url":"a"}"#, #"{"a":"  "}"#, []),
    (#"{"url":"a","needs_scheme":true}"#, #"{"a":"//h.example/a b"}"#, ["https://h.example/a%20b"]),
    (#"{"build":"{host}/avatar/{s.name}?n={n}"}"#, #"{"host":"https://a","s":{"name":"x"},"n":7}"#, ["https://a/avatar/x?n=7"]),
    (#"{"build":"{host}/avatar/{s.name}"}"#, #"{"host":"https://a","s":{"name":""}}"#, []),
    (#"{"build":"{host}/{path}"}"#, #"{"host":"https://a/","path":"b/"}"#, ["https://a/b/"]),
    (#"{"json":"j","url":"a","when":{"at":"b"}}"#, #"{"j":"{\"a\":\"u\",\"b\":1}"}"#, ["u"]),
    (#"{"json":"j","url":"a","when":{"at":"b"}}"#, #"{"j":"{\"a\":\"u\"}","b":1}"#, []),
    (#"{"json":"j","url":"a[]"}"#, #"{"j":"{\"a\":[\"u\",\"v\"]}"}"#, ["u", "v"]),
    (#"{"json":"j","url":"[]"}"#, #"{"j":["u"]}"#, ["u"]),
    (#"{"json":"j","url":"a"}"#, #"{"j":"{\"a\":"}"#, []),
    (#"{"json":"j","build":"{a}/{b}"}"#, #"{"j":"{\"a\":\"1\",\"b\":\"2\"}"}"#, ["1/2"]),
    (#"{"url":"a[]","at_most":2}"#, #"{"a":["u",1,"v","w"]}"#, ["u", "v"]),
    (#"[{"url":"a"},{"url":"b"}]"#, #"{"b":"v","a":"u"}"#, ["u"]),
    (#"[{"url":"a"},{"url":"b"}]"#, #"{"b":"v","a":1}"#, ["v"]),
    (#"{"url":"a","when":{"at":"b","equals":1}},{"url":"c"}"#, #"{"a":"u","c":"v"}"#, ["v"]),
  ])
  func `a source names URLs`(source: String, payload: String, urls: [String]) throws {
    #expect(try DialectStage(source: source).urls(payload) == urls)
  }

  @Test(arguments: [
    (#"{"at":"a"}"#, #""a":0"#, true), (#"{"at":"a"}"#, #""a":"""#, false), (#"{"at":"a"}"#, #""a":null"#, false),
    (#"{"at":"a"}"#, #""a":{}"#, true), (#"{"at":"a[].b"}"#, #""a":[{},{"b":1}]"#, true),
    (#"{"at":"a","is":"string"}"#, #""a":"x""#, true), (#"{"at":"a","is":"string"}"#, #""a":1"#, false),
    (#"{"at":"a","is":"number"}"#, #""a":1.5"#, true), (#"{"at":"a","is":"number"}"#, #""a":"1""#, false),
    (#"{"at":"a","is":"boolean"}"#, #""a":false"#, true), (#"{"at":"a","is":"object"}"#, #""a":[]"#, false),
    (#"{"at":"a","is":"array"}"#, #""a":[]"#, true),
    (#"{"at":"a","equals":"x"}"#, #""a":"x""#, true), (#"{"at":"a","equals":"x"}"#, #""a":"xy""#, false),
    (#"{"at":"a","equals":["x",4,true]}"#, #""a":4.0"#, true), (#"{"at":"a","equals":["x",4,true]}"#, #""a":true"#, true),
    (#"{"at":"a","equals":4}"#, #""a":"4""#, false),
    (#"{"at":"a","starts":["x/","y"]}"#, #""a":"yes""#, true), (#"{"at":"a","starts":"x/"}"#, #""a":"x""#, false),
    (#"{"at":"a","starts":"https://"}"#, #""a":"HTTPS://x""#, true), (#"{"at":"a","starts":"Image/"}"#, #""a":"iMAGE/png""#, true),
    (#"{"at":"a","starts":"@["}"#, #""a":"`{""#, false), (#"{"at":"a","starts":"é"}"#, #""a":"É""#, false),
    (#"{"at":"a","absent":true}"#, #""b":1"#, true), (#"{"at":"a","absent":true}"#, #""a":"""#, true),
    (#"{"at":"a","absent":true}"#, #""a":false"#, false),
    (#"{"any":[{"at":"a"},{"at":"b"}]}"#, #""b":1"#, true), (#"{"any":[{"at":"a"},{"at":"b"}]}"#, #""c":1"#, false),
    (#"{"none":[{"at":"a"},{"at":"b"}]}"#, #""c":1"#, true), (#"{"none":[{"at":"a"},{"at":"b"}]}"#, #""b":1"#, false),
    (#"[{"at":"a"},{"at":"b"}]"#, #""a":1"#, false), (#"[{"at":"a"},{"at":"b"}]"#, #""a":1,"b":1"#, true), ("[]", #""a":1"#, true),
  ])
  func `a dialect is asked when all its conditions hold`(when: String, members: String, holds: Bool) throws {
    let payload = #"{"u":"https://a.example/1",\#(members)}"#
    #expect(try DialectStage(source: #"{"url":"u"}"#, when: when).urls(payload).isEmpty == !holds)
    #expect(try DialectStage(source: #"{"url":"u","when":\#(when)}"#).urls(payload).isEmpty == !holds)
  }

  @Test(arguments: [
    (#"{"inside":"i"}"#, "in"), (#"{"at":"top"}"#, "out"), (#"{"fixed":"f"}"#, "f"), (#"{"fixed":""}"#, ""), (#"{"key":true}"#, "k"),
    (#"{"file":true}"#, "a.b.png"), (#"{"url":true}"#, "https://a.example/x/a.b.png?f=q.jpeg&g"), (#"{"query":"f"}"#, "jpeg"),
    (#"{"query":"g"}"#, nil), (#"{"at":"number"}"#, nil), (#"[{"inside":"none"},{"at":"top"}]"#, "out"),
    (#"{"at":"top","prefix":"<","suffix":">"}"#, "<out>"), (#"{"at":"none","prefix":"<"}"#, nil),
    (#"[{"fixed":"x","when":{"at":"none"}},{"fixed":"y","when":{"at":"top"}}]"#, "y"), (#"{"index":3}"#, nil),
  ])
  func `a field gives an identifier`(field: String, identifier: String?) throws {
    let payload = #"{"top":"out","number":5,"m":{"k":{"u":"https://a.example/x/a.b.png?f=q.jpeg&g","i":"in"}}}"#
    let media = try DialectStage(source: #"{"url":"m.{}.u","identifier":\#(field)}"#).media(payload)
    #expect(media.map(\.identifier?.string) == [identifier])
  }

  @Test func `an index counts the places of the array, also those of no media`() throws {
    let stage = try DialectStage(source: #"{"url":"a[].u","identifier":{"index":1,"prefix":"m"}}"#)
    #expect(stage.media(#"{"a":[{"u":"1"},0,{"u":"2"}]}"#).map(\.identifier) == ["m1", "m3"])
  }

  @Test(arguments: [
    (#""gif""#, MediaReference.HintKind.fileExtension), (#""image/png""#, .mime), (#""video""#, .mediaClass),
    (#""public.png""#, .uniformType),
    ("3", .fileExtension),
  ])
  func `a hint says by its form what it is`(hint: String, kind: MediaReference.HintKind) throws {
    let media = try DialectStage(source: #"{"url":"u","type_hint":{"at":"t"}}"#).media(#"{"u":"1","t":\#(hint)}"#)
    #expect(media.map(\.hintKind) == [kind])
    #expect(media.map(\.typeHint?.string) == [hint.replacing("\"", with: "")])
  }

  @Test func `the options of a source are read by their types`() throws {
    let stage = try DialectStage(
      source: #"""
        {"url":"a[].u","hidden":[{"at":"h"},{"differs":"id","from":"main"}],"crop":{"inside":"c"},"time":{"at":"t"},"lazy":{"inside":"l"},
         "type_hint":{"inside":"w"},"hint_words":{"jay":"public.jpeg"},"hint_kind":"class","fallback":["f.1","none","f.0"],"role":"avatar",
         "needs":["base-url","credentials"]}
        """#)
    let media = stage.media(
      #"{"main":"x","t":2.5,"f":["0","1"],"a":[{"u":"1","id":"x","c":{"x":0,"y":0,"width":1,"height":0.5}},{"u":"2","id":"y","l":true,"w":"jay"}]}"#
    )
    var (first, second) = (MediaReference(url: "1"), MediaReference(url: "2", typeHint: "jay"))
    first.options = AttachmentOptions(
      thumbnailHidden: false, thumbnailClippingRect: ClippingRect(x: 0, y: 0, width: 1, height: 0.5), thumbnailTime: 2.5)
    second.options = AttachmentOptions(thumbnailHidden: true, thumbnailTime: 2.5)
    (first.path, second.path) = ("/a/0/u", "/a/1/u")
    second.isLazy = true
    (second.hintKind, second.hintedType) = (.mediaClass, "public.jpeg")
    for index in [0, 1] {
      var expected = [first, second][index]
      expected.fallbacks = ["1", "0"]
      expected.role = .avatar
      expected.needs = [.baseURL, .credentials]
      #expect(media[index] == expected)
    }
    let wrong = stage.media(#"{"t":-1,"h":"yes","f":[0,""],"a":[{"u":"1","c":{"x":0,"y":0,"width":2,"height":1},"l":"true"}]}"#)
    #expect(wrong.map(\.options) == [AttachmentOptions()])
    #expect(wrong.map(\.isLazy) == [false] && wrong.map(\.fallbacks) == [[]])
  }

  @Test(arguments: [
    (#"{"url":"a.[]"}"#, #"{"a":["u"]}"#, "/a/0"), (#"{"url":"{}.b~c"}"#, #"{"x/y":{"b~c":"u"}}"#, "/x~1y/b~0c"),
    (#"{"url":"a","form":"any"}"#, #"{"a":[1,{"url":"u"}]}"#, "/a/1/url"), (#"{"json":"j","url":"a"}"#, #"{"j":"{\"a\":\"u\"}"}"#, "/j"),
    (#"{"json":"j","url":"a"}"#, #"{"j":{"a":"u"}}"#, "/j/a"), (#"{"build":"x{a.b}"}"#, #"{"a":{"b":"u"}}"#, "/a/b"),
  ])
  func `a reference says where its URL stands`(source: String, payload: String, path: String) throws {
    #expect(try DialectStage(source: source).media(payload).map(\.path?.string) == [path])
  }

  @Test func `a map of fifty thousand members is read in one go`() throws {
    let members = (0..<50_000).map { #""k\#($0 % 40_000)":\#($0)"# }.joined(separator: ",")
    #expect(try DialectStage(source: #"{"url":"m.{}"}"#).urls(#"{"m":{"k7":"u",\#(members)}}"#) == [])
    #expect(try DialectStage(source: #"{"url":"m.{}"}"#).urls(#"{"m":{\#(members),"k7":"u"}}"#) == ["u"])
  }

  @Test func `rows of last resort are asked when no vendor's row found media`() throws {
    let stage = try DialectStage(
      rows:
        #"[{"name":"last","precedence":"last-resort","media":[{"url":"u"}]},{"name":"v","media":[{"url":"v"}]},{"name":"l","precedence":"last-resort","media":[{"url":"w"}]}]"#
    )
    #expect(stage.urls(#"{"u":"1","v":"2","w":"3"}"#) == ["1", "2"])
    #expect(stage.urls(#"{"v":0,"w":"3"}"#) == ["3"])
    #expect(stage.dialect(#"{"v":0,"w":"3"}"#) == "l")
  }

  @Test func `what the vendor's helper makes of the text is read`() throws {
    let stage = try DialectStage(
      rows: #"""
        [{"name":"v","when":{"at":"v"},"overrides":{"title":{"at":"t"},"badge":{"at":"b"},"body":{"at":"none"},"sound":{"fixed":"ping"}},
          "on_failure":{"body_append":{"at":"t","prefix":"See "}},
          "actions":[{"json":"j","each":"[]","title":{"inside":"n"}},
            {"each":"list","title":{"inside":"n"},"identifier":[{"inside":"i"},{"index":0,"prefix":"action_"}],"url":{"inside":"u"},"icon":{"inside":"c"},
             "destructive":{"at":"d","equals":true}}]}]
        """#)
    let text = try #require(
      stage.text(#"{"v":1,"t":"T","b":3,"list":[{"n":"Yes","i":5,"u":"app://1","c":"star","d":true},{"i":"x"},{"n":"No","d":1}]}"#))
    #expect(text.overrides == [.init(name: "title", value: "T"), .init(name: "badge", value: "3"), .init(name: "sound", value: "ping")])
    #expect(text.onFailure == [.init(name: "body_append", value: "See T")])
    var (yes, no) = (DialectText.Action(identifier: "5", title: "Yes"), DialectText.Action(identifier: "action_2", title: "No"))
    (yes.url, yes.icon, yes.isDestructive) = ("app://1", "star", true)
    no.isDestructive = false
    #expect(text.actions == [yes, no] && text.dialect == "v")
    #expect(stage.text(#"{"v":1,"j":"[{\"n\":\"Go\"}]","list":[{"n":"Yes"}]}"#)?.actions == [DialectText.Action(title: "Go")])
    #expect(stage.text(#"{"t":"T"}"#) == nil)
  }

  @Test(arguments: [
    (#"{"title":{"at":"t"}}"#, #""t":5"#, nil), (#"{"subtitle":{"at":"t"}}"#, #""t":true"#, nil),
    (#"{"body":{"at":"t"}}"#, #""t":{}"#, nil),
    (#"{"category":{"at":"t"}}"#, #""t":1.5"#, nil), (#"{"title":[{"at":"t"},{"at":"s"}]}"#, #""t":5,"s":"S""#, "S"),
    (#"{"badge":{"at":"t"}}"#, #""t":5"#, "5"), (#"{"badge":{"at":"t"}}"#, #""t":"5""#, "5"), (#"{"badge":{"at":"t"}}"#, #""t":true"#, nil),
    (#"{"badge":{"at":"t"}}"#, #""t":1.5"#, nil), (#"{"badge":{"fixed":5}}"#, #""t":1"#, "5"),
    (#"{"sound":{"at":"t"}}"#, #""t":"ping""#, "ping"),
    (#"{"sound":{"at":"t"}}"#, #""t":{"critical":1,"name":"bell"}"#, "bell"),
    (#"{"sound":{"at":"t"}}"#, #""t":{"name":1}"#, nil), (#"{"sound":{"at":"t"}}"#, #""t":1"#, nil),
  ])
  func `an override is text, a badge a number too, and a sound the name of an object`(overrides: String, members: String, value: String?)
    throws
  {
    let stage = try DialectStage(rows: #"[{"name":"v","overrides":\#(overrides)}]"#)
    #expect(stage.text("{\(members)}")?.overrides.map(\.value.string) == value.map { [$0] })
  }

  @Test func `ciphertext is known by its row`() throws {
    let stage = try DialectStage(rows: #"[{"name":"secret","when":{"at":"p","is":"string"},"encrypted":"For the app alone."}]"#)
    #expect(stage.encrypted(#"{"p":"AAAA"}"#)?.sentence == "For the app alone.")
    #expect(stage.encrypted(#"{"p":1}"#) == nil && stage.media(#"{"p":"AAAA"}"#).isEmpty)
  }

  @Test func `the built-in table follows the form, and its rows of media are those of the whole table`() throws {
    let rows = try DialectForm.builtIn.rows(isWhole: true)
    #expect(Dialect.builtInMedia.map(\.name) == rows.map(\.name) && rows.count > 47)
    for (row, media) in zip(rows, Dialect.builtInMedia) {
      #expect(media.aliases == row.aliases && media.precedence == row.precedence, "\(row.name)")
      #expect(DialectNeeds(media).needs == DialectNeeds(row).needs, "\(row.name)")
      #expect(media.media.count == row.media.count && media.when.count == row.when.count, "\(row.name)")
    }
  }
}
