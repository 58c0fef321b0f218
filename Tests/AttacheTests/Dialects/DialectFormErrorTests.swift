import Foundation
import Testing

@testable import Attache

/// The messages for wrong dialect files.
struct DialectFormErrorTests {
  @Test(arguments: [
    ("[{\"name\":\"a\",\n\"media\":[{\"url\":\"a..b\"}]}]", 2, "dialects[0].media[0].url", "write one dot between two names"),
    ("[{\"name\":\"a\",\"media\":[{\n\n\"urls\":\"a\"}]}]", 3, "dialects[0].media[0].urls", "did you mean “url”?"),
    ("[{\"name\":\"a\",\n\"media\":[[{\"url\":\"a\"},{\"hiden\":\"a\"}]]}]", 2, "dialects[0].media[0][1].hiden", "did you mean “hidden”?"),
    (#"[{"name":"a","media":[{"url":"a","colour":1}]}]"#, 1, "dialects[0].media[0].colour", "write one of url, build, json"),
    ("[\n{\"media\":[{\"url\":\"a\"}]}]", 2, "dialects[0]", "“name” is missing"),
    (#"[{"name":"A b","media":[{"url":"a"}]}]"#, 1, "dialects[0].name", "lower-case letters, digits and hyphens"),
    (#"[{"name":7,"media":[{"url":"a"}]}]"#, 1, "dialects[0].name", "write a string"),
    (
      "[{\"name\":\"a\",\"media\":[{\"url\":\"a\"}]},\n{\"name\":\"a\",\"media\":[{\"url\":\"b\"}]}]", 2, "dialects[1].name",
      "choose another name"
    ),
    (#"[{"name":"a"}]"#, 1, "dialects[0]", "the dialect is empty"),
    (#"[{"name":"a","media":{"url":"a"}}]"#, 1, "dialects[0].media", "write […]"),
    (#"[{"name":"a","media":["a"]}]"#, 1, "dialects[0].media[0]", "this is not an object"),
    (#"[{"name":"a","media":[{"url":""}]}]"#, 1, "dialects[0].media[0].url", "the text is empty"),
    (#"[{"name":"a","media":[{"identifier":{"fixed":"x"}}]}]"#, 1, "dialects[0].media[0]", "either “url” or “build”"),
    (#"[{"name":"a","media":[{"url":"a","build":"{b}"}]}]"#, 1, "dialects[0].media[0]", "either “url” or “build”"),
    (#"[{"name":"a","media":[{"build":"b"}]}]"#, 1, "dialects[0].media[0].build", "write {path}"),
    (#"[{"name":"a","media":[{"build":"{b"}]}]"#, 1, "dialects[0].media[0].build", "a { has no }"),
    (#"[{"name":"a","media":[{"url":"a","form":"texts"}]}]"#, 1, "dialects[0].media[0].form", "“texts” is not allowed here; write text"),
    (#"[{"name":"a","media":[{"url":"a","needs":["http"]}]}]"#, 1, "dialects[0].media[0].needs[0]", "write https"),
    (#"[{"name":"a","media":[{"url":"a","at_most":0}]}]"#, 1, "dialects[0].media[0].at_most", "not a whole number of at least 1"),
    (#"[{"name":"a","media":[{"url":"a","needs_scheme":"yes"}]}]"#, 1, "dialects[0].media[0].needs_scheme", "write true or false"),
    (#"[{"name":"a","media":[{"url":"a","hint_words":{"x":1}}]}]"#, 1, "dialects[0].media[0].hint_words.x", "write a string"),
    (#"[{"name":"a","media":[{"url":"a","identifier":"x"}]}]"#, 1, "dialects[0].media[0].identifier", #"{"fixed": …}"#),
    (
      #"[{"name":"a","media":[{"url":"a","identifier":{"fixed":"x","at":"y"}}]}]"#, 1, "dialects[0].media[0].identifier",
      "a field has one source"
    ),
    (
      #"[{"name":"a","media":[{"url":"a","identifier":{"key":false}}]}]"#, 1, "dialects[0].media[0].identifier.key",
      "this member can only be true"
    ),
    (#"[{"name":"a","media":[{"url":"a","hidden":{"differs":"x"}}]}]"#, 1, "dialects[0].media[0].hidden", "write both"),
    (#"[{"name":"a","media":[{"url":"a","time":{"fixed":[4]}}]}]"#, 1, "dialects[0].media[0].time.fixed", "write a number of seconds"),
    (#"[{"name":"a","when":{"is":"object"},"media":[{"url":"a"}]}]"#, 1, "dialects[0].when", "“at” is missing"),
    (#"[{"name":"a","when":[{"at":"b","is":"objekt"}],"media":[]}]"#, 1, "dialects[0].when[0].is", "write object"),
    (#"[{"name":"a","when":{"at":"b","is":"object","absent":true},"media":[]}]"#, 1, "dialects[0].when", "a condition has one test"),
    (#"[{"name":"a","when":{"at":"b","equals":null},"media":[]}]"#, 1, "dialects[0].when.equals", "nothing equals this value"),
    (#"[{"name":"a","when":{"any":[{"at":"b"},{"at":""}]},"media":[]}]"#, 1, "dialects[0].when.any[1].at", "the text is empty"),
    (#"[{"name":"a","when":{"at":"b","any":[{"at":"c"}]},"media":[]}]"#, 1, "dialects[0].when", "allow no other member"),
    (#"[{"name":"a","precedence":"user","media":[]}]"#, 1, "dialects[0].precedence", "write vendor or last-resort"),
    (#"[{"name":"a","encrypted":"Secret."}]"#, 1, "dialects[0]", "“encrypted” needs “when”"),
    (#"[{"name":"a","overrides":{"title":"t"}}]"#, 1, "dialects[0].overrides.title", "this is not a field"),
    (#"[{"name":"a","actions":{"title":{"inside":"t"}}}]"#, 1, "dialects[0].actions", "“each” is missing"),
    (#"[{"name":"a","actions":[{"each":"t"}]}]"#, 1, "dialects[0].actions[0]", "“title” is missing"),
    (#"[{"name":"a","media":[{"url":"a"}],"sample":{}}]"#, 1, "dialects[0].sample", "“payload” is missing"),
    (#"{"name":"a"}"#, 1, "dialects", "this is not an array"),
    ("[{\"name\":\"a\",\"overrides\":\n{\"titel\":{\"at\":\"t\"}}}]", 2, "dialects[0].overrides.titel", "did you mean “title”?"),
    (#"[{"name":"a","on_failure":{"colour":{"at":"t"}}}]"#, 1, "dialects[0].on_failure.colour", "write one of title, subtitle, body"),
    (#"[{"name":"a","overrides":{"badge":{"fixed":true}}}]"#, 1, "dialects[0].overrides.badge.fixed", "write a whole number"),
    (#"[{"name":"a","overrides":{"title":{"fixed":5}}}]"#, 1, "dialects[0].overrides.title.fixed", "write a string"),
    (#"[{"name":"a","media":[{"url":"a","hidden":{"fixed":"yes"}}]}]"#, 1, "dialects[0].media[0].hidden.fixed", "write true or false"),
    (#"[{"name":"a","media":[{"url":"a","lazy":[{"fixed":1}]}]}]"#, 1, "dialects[0].media[0].lazy[0].fixed", "write true or false"),
    (#"[{"name":"a","media":[{"url":"a","time":{"fixed":"4"}}]}]"#, 1, "dialects[0].media[0].time.fixed", "write a number of seconds"),
    (#"[{"name":"a","media":[{"url":"a","time":{"fixed":-1}}]}]"#, 1, "dialects[0].media[0].time.fixed", "0 or more"),
    (#"[{"name":"a","media":[{"url":"a","crop":{"fixed":true}}]}]"#, 1, "dialects[0].media[0].crop.fixed", "x, y, width and height"),
    (
      #"[{"name":"a","media":[{"url":"a","crop":{"fixed":{"x":0,"y":0,"width":2,"height":1}}}]}]"#, 1, "dialects[0].media[0].crop.fixed",
      "from 0 to 1"
    ),
    (#"[{"name":"a","media":[{"url":"a","identifier":{"fixed":5}}]}]"#, 1, "dialects[0].media[0].identifier.fixed", "write a string"),
    (#"[{"name":"a","when":{"any":[]},"media":[{"url":"a"}]}]"#, 1, "dialects[0].when.any", "the list is empty"),
    (#"[{"name":"a","when":{"none":[]},"media":[{"url":"a"}]}]"#, 1, "dialects[0].when.none", "the list is empty"),
    (#"[{"name":"a","when":{"at":"b","equals":[]},"media":[{"url":"a"}]}]"#, 1, "dialects[0].when.equals", "the list is empty"),
    (#"[{"name":"a","when":{"at":"b","starts":[]},"media":[{"url":"a"}]}]"#, 1, "dialects[0].when.starts", "the list is empty"),
    ("[{\"name\":\"a\",\"media\":[{\"url\":\"a\",\n\"url\":\"b\"}]}]", 2, "dialects[0].media[0].url", "this member occurs twice"),
    (#"[{"name":"a","media":[],"media":[{"url":"a"}]}]"#, 1, "dialects[0].media", "remove one of the two"),
    (#"[{"name":"a","media":[{"url":"a","hint_words":{"x":"y","x":"z"}}]}]"#, 1, "dialects[0].media[0].hint_words.x", "occurs twice"),
    (
      #"[{"name":"a","overrides":{"body":{"at":"b"},"body":{"at":"c"}}}]"#, 1, "dialects[0].overrides.body",
      "this member occurs twice"
    ),
    (#"[{"name":"a","aliases":["b","braze"],"media":[{"url":"a"}]}]"#, 1, "dialects[0].aliases", "“braze” is the name of another dialect"),
    (
      "[{\"name\":\"a\",\n\"aliases\":\"c\",\"media\":[{\"url\":\"a\"}]},{\"name\":\"c\",\"media\":[{\"url\":\"b\"}]}]", 2,
      "dialects[0].aliases", "choose another alias"
    ),
    (
      #"[{"name":"\#(String(repeating: "a", count: 65))","media":[{"url":"a"}]}]"#, 1, "dialects[0].name", "longer than 64 characters"
    ),
  ])
  func `an error names the file, the line and the field, and says what to write`(rows: String, line: Int, field: String, advice: String)
    throws
  {
    let error = try #require(throws: DialectFormError.self) { try DialectFile(name: "mine.json", json: rows) }
    #expect(error.file == "mine.json" && error.line == line && error.field == field, "\(error)")
    #expect(error.text.contains(advice), "\(error)")
    #expect(error.description == "mine.json:\(line): \(field): \(error.text)")
  }

  @Test(arguments: [
    ("", 1, 1), ("[", 1, 2), ("[\n  {\"name\": \"a\"\n  \"media\": []}]", 3, 3), ("[{\"name\": 'a'}]", 1, 11), ("[1,]", 1, 4),
    ("[1 2]", 1, 4),
    ("[{\"a\":1,}]", 1, 9), ("[{\"a\" 1}]", 1, 7), ("[{a:1}]", 1, 3), ("[nul]", 1, 2), ("[\"a\n\"]", 1, 4), ("[]\n]", 2, 1),
    ("[{}\n]}", 2, 2),
    ("[[],{\"b\":[{}]}", 1, 15), ("[01]", 1, 3), ("[-01]", 1, 4), ("[-]", 1, 3), ("[+1]", 1, 2), ("[.5]", 1, 2), ("[1.]", 1, 4),
    ("[1.e2]", 1, 4),
    ("[1e]", 1, 4), ("[1e+]", 1, 5), ("[1", 1, 3), ("[-0.5E-01x", 1, 10), ("[nul", 1, 5), (#"["\x"]"#, 1, 4), (#"["\u12g4"]"#, 1, 7),
    (#"["\u12"#, 1, 7),
  ])
  func `what is no JSON is told by line and column`(text: String, line: Int, column: Int) throws {
    let error = try #require(throws: DialectFormError.self) { try DialectFile(name: "mine.json", json: text) }
    #expect(error.line == line && error.field == "column \(column)", "\(error)")
  }

  @Test func `a file that is too long, or none, is told by its name`() throws {
    let long = try error(of: "[]" + String(repeating: " ", count: 1 << 20))
    #expect(long.description == "\(long.file): the file is longer than 1 MiB; leave out the dialects that are not used")
    let missing = try #require(throws: DialectFormError.self) { try DialectFile(contentsOf: "/nowhere/mine.json") }
    #expect(missing.description == "/nowhere/mine.json: the file cannot be read: No such file or directory")
  }

  @Test func `a byte order mark before the array is passed over`() throws {
    #expect(try error(of: "\u{FEFF}[{\"name\":1}]").field == "dialects[0].name")
  }

  /// The error of a file with this text.
  private func error(of text: String) throws -> DialectFormError {
    let file = FileManager.default.temporaryDirectory.appending(path: "attache-dialects-\(UUID().uuidString).json")
    defer { try? FileManager.default.removeItem(at: file) }
    try Data(text.utf8).write(to: file)
    return try #require(throws: DialectFormError.self) { try DialectFile(contentsOf: file.path) }
  }

  @Test(arguments: [
    #"[{"name":"\#(String(repeating: "a", count: 64))","media":[{"url":"a"}]}]"#,
    #"[{"name":"firebase","aliases":["fcm","firebase"],"media":[{"url":"a"}]}]"#,
    #"[{"name":"a","media":[{"url":"a"}],"sample":{"payload":{"b":1,"b":2}}}]"#,
    #"[{"name":"a","media":[{"url":"a","time":{"fixed":0},"crop":{"fixed":{"x":0,"y":0,"width":1,"height":1}},"hidden":{"fixed":false}}]}]"#,
    #"[{"name":"a","overrides":{"badge":{"fixed":3},"category":{"fixed":""}},"on_failure":{"body_append":{"at":"b"}}}]"#,
  ])
  func `what is unusual and right is read`(rows: String) throws {
    #expect(try DialectFile(name: "mine.json", json: rows).rows.count == 1)
  }

  @Test(arguments: [16, 17, 10_000])
  func `conditions may be nested sixteen deep`(depth: Int) throws {
    let groups = String(repeating: #"{"any":["#, count: depth - 1)
    let condition = groups + #"{"at":"b"}"# + String(repeating: "]}", count: depth - 1)
    let form = DialectForm(name: "mine.json", bytes: #"[{"name":"a","when":\#(condition),"media":[{"url":"a"}]}]"#.utf8)
    guard depth > 16 else { return _ = try form.rows(isWhole: true) }
    let error = #expect(throws: DialectFormError.self) { try form.rows(isWhole: true) }
    #expect(error?.text.contains("nested more than 16 deep") == true && error?.line == 1)
  }
}
