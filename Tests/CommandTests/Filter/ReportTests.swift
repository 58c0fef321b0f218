import AttacheTesting
import Foundation
import Glibc
import Testing

/// The report: a JSON object a line of input.
@Suite(.timeLimit(.minutes(1)))
struct ReportTests {
  @Test func `a record has the design's fields in the design's order`() async throws {
    try await withOrigin { origin in
      origin.serve("/a", try Sample.medium("picture.png"))
      let tool = try AttacheTool()
      _ = try await tool.run(AttacheTool.loopback + ["--report", tool.report], input: Sample.payload(origin.url("/a")))
      let text = try String(contentsOfFile: tool.report, encoding: .utf8)
      let keys = text.matches(of: /"([a-z0-9_]+)":/).map { String($0.1) }
      #expect(
        keys == [
          "line", "outcome", "reason", "dialect", "place_wait_ms", "elapsed_ms", "lateness_ms", "media", "url", "reason", "status", "bytes",
          "cache", "type",
          "attempts", "dns_ms", "connect_ms", "tls_ms", "first_byte_ms", "total_ms",
        ])
      let record = try #require(try ReportLine.read(tool.report).first)
      #expect(record.outcome == "attached")
      #expect(record.reason == nil)
      #expect(record.dialect == "generic")
      #expect(record.media.map(\.url) == [origin.url("/a")])
      #expect(record.media.map(\.status) == [200])
      #expect(record.media.map(\.bytes) == [242])
      #expect(record.media.map(\.type) == ["public.png"])
      #expect(record.media.map(\.cache) == ["miss"])
    }
  }

  @Test func `every line has its record, blank ones and one without a line feed included`() async throws {
    let input = "\n{}\r\n \nno\n" + Sample.payload("http://cdn.example/a") + "\n" + Sample.plain
    let (run, records) = try await AttacheTool().reported(input: input)
    #expect(run.text == input)
    #expect(records.map(\.line) == [1, 2, 3, 4, 5, 6])
    #expect(records.map(\.outcome) == ["passthrough", "passthrough", "passthrough", "invalid", "fallback", "passthrough"])
    #expect(
      records.map(\.reason) == [
        "payload.no-alert", "payload.no-alert", "payload.no-alert", "payload.json", "policy.scheme", "payload.not-mutable",
      ])
    #expect(records.map(\.dialect) == [nil, nil, nil, nil, "generic", nil])
  }

  @Test func `of 120,000 media in a line the report has 64 and a number`() async throws {
    let list = (0..<120_000).map { #""\#($0)""# }.joined(separator: ",")
    let line = #"{"aps":{"alert":"Hello","mutable-content":1},"image":[\#(list)]}"#
    let tool = try AttacheTool()
    let (run, records) = try await tool.reported(["--media-key", "image"], input: line)
    #expect(run.text == line)
    #expect(records.map(\.omitted) == [119_936])
    #expect(
      records.first?.media.map(\.reason)
        == Array(repeating: "policy.scheme", count: 10) + Array(repeating: "policy.attachments", count: 54))
    #expect(try Data(contentsOf: URL(filePath: tool.report)).count < 20_000)
  }

  @Test func `the report and standard error say why an envelope was not opened`() async throws {
    let input = #"{"aps":{}}"# + "\n" + #"{"APNS":{"aps":{}}}"# + "\n" + #"{"app_id":"a","contents":{"en":"Hi"},"data":7}"#
    let (run, records) = try await AttacheTool().reported(input: input)
    #expect(run.text == input)
    let why = "APNS is a dictionary, but SNS expects the payload as JSON in a string"
    #expect(records.map(\.reason) == ["payload.no-alert", "payload.envelope", "payload.envelope"])
    #expect(
      records.map(\.why) == [
        nil, why, "data is the number 7, but attachments need a dictionary there: make it one, or remove it",
      ])
    #expect(run.errors.contains("line 2: payload.envelope: \(why)"))
    #expect(run.errors.contains("3 passthrough (payload.envelope 2, payload.no-alert 1)"))
  }

  @Test func `the record and the log name a message of Expo that cannot be opened beside others that are attached`() async throws {
    try await withOrigin { origin in
      origin.serve("/a", try Sample.medium("picture.png"))
      let one = #"{"to":"ExponentPushToken[x]","title":"Hi","mutableContent":true,"richContent":{"image":"\#(origin.url("/a"))"}}"#
      let (run, records) = try await AttacheTool().reported(AttacheTool.loopback, input: #"[\#(one),{"to":"d1"},\#(one)]"#)
      #expect(run.text.matches(of: /"attache":/).count == 2, "\(run.text)")
      #expect(records.map(\.outcome) == ["attached"] && records.map(\.reason) == [nil])
      #expect(records.first?.why?.hasPrefix("the message at /1 is not one of Expo's") == true)
      #expect(run.errors.contains("line 1: payload.envelope: the message at /1 is not one of Expo's"), "\(run.errors)")
    }
  }

  @Test(arguments: [
    (#"{"to":"ExponentPushToken[x]","body":"Hi","mutableContent":true,"richContent":"https://a.example/1"}"#, "/richContent is a string"),
    (
      #"{"message":{"token":"t","data":{"k":"1"},"apns":{"payload":{"aps":{"alert":"Hi","mutable-content":1},"_wp":{"attachments":"https://a.example/1"}}}}}"#,
      "/message/apns/payload/_wp/attachments is a string"
    ),
    (
      #"{"APNS":"{\"aps\":{\"alert\":\"Hi\",\"mutable-content\":1},\"ab\":{\"att\":\"https://a.example/1\"}}"}"#, "/APNS/ab/att is a string"
    ),
  ])
  func `the log says where the line has a value of the wrong type`(line: String, text: String) async throws {
    let (run, records) = try await AttacheTool().reported(input: line)
    #expect(records.map(\.reason) == ["payload.form"])
    #expect(run.errors.contains(": \(text)"), "\(run.errors)")
  }

  @Test(arguments: [[], ["--unordered"]]) func `records come in the order of the lines, or unordered as decided`(flags: [String])
    async throws
  {
    try await withOrigin { origin in
      origin.serve("/slow", try Sample.medium("picture.png"), faults: [.stallBeforeHeaders])
      origin.serve("/fast", try Sample.medium("picture.png"))
      let tool = try AttacheTool()
      let program = try tool.start(AttacheTool.loopback + flags + ["--report", tool.report])
      program.input.write(Sample.payload(origin.url("/slow")) + "\n" + Sample.payload(origin.url("/fast")) + "\n")
      if !flags.isEmpty { _ = await program.lines(1) }
      await origin.waitForStalls(count: 1, path: "/slow")
      origin.release("/slow")
      program.input.close()
      #expect(await program.exit() == .status(0))
      #expect(try ReportLine.read(tool.report).map(\.line) == (flags.isEmpty ? [1, 2] : [2, 1]))
    }
  }

  @Test func `each record repeats the value of the place that was asked for`() async throws {
    let long = String(repeating: "x", count: 1_023)
    let input = [
      #"{"aps":{"content-available":1},"user":{"id":123456789012345678901234567890}}"#, Sample.plain, "no", "",
      #"{"user":{"id":"Zo\u00eb"},"message":{"apns":{"payload":{"aps":{"alert":"Hi","mutable-content":1}}}}}"#,
      #"{"aps":{"alert":"Hi","mutable-content":1},"image":"http://cdn.example/a","user":{"id":true}}"#, #"{"user":{"id":"\#(long)"}}"#,
      #"{"user":{"id":{"a":1}}}"#, #"{"APNS":7,"user":{"id":"e"}}"#,
    ].joined(separator: "\n")
    let tool = try AttacheTool()
    let run = try await tool.run(["--report-key", "/user/id", "--report", tool.report], input: input)
    #expect(run.text == input)
    let keys = try String(contentsOfFile: tool.report, encoding: .utf8).split(separator: "\n").map { $0.split(separator: ",\"key\":").last }
    #expect(
      keys == [
        "123456789012345678901234567890}", "null}", "null}", "null}", "\"Zo\\u00eb\"}", "true}", "null}", "null}", "\"e\"}",
      ])
    #expect(run.errors.contains("9 lines: 0 attached, 1 fallback (policy.scheme 1), 7 passthrough ("), "\(run.errors)")
  }

  @Test func `the log says once what nothing reads, and the report each time`() async throws {
    let line = #"{"aps":{"alert":"Hi","mutable-content":1},"cms":{"hero":{"url":"https://cdn.example/a.jpg"}}}"#
    let input = [line, line, #"{"aps":{"alert":"Hi","mutable-content":1},"hero_picture":"https://cdn.example/1"}"#].joined(separator: "\n")
    let (run, records) = try await AttacheTool().reported(input: input)
    #expect(run.text == input)
    let why = "nothing reads the URL at /cms/hero/url; --media-key cms.hero.url would"
    #expect(records.map(\.reason) == Array(repeating: "payload.unread-media", count: 3))
    #expect(records.map(\.why) == [why, why, "nothing reads the URL at /hero_picture; --media-key hero_picture would"])
    #expect(
      run.errors.split(separator: "\n").count { $0.contains(why) } == 1 && run.errors.contains("line 1: payload.unread-media: \(why)\n"))
    #expect(run.errors.contains("line 3: payload.unread-media: "))
    #expect(run.errors.contains("3 passthrough (payload.unread-media 3)"))
  }

  @Test func `the file is emptied at the start`() async throws {
    let tool = try AttacheTool()
    try "something longer than the new report, from another run, left over\n".write(toFile: tool.report, atomically: true, encoding: .utf8)
    _ = try await tool.run(["--report", tool.report])
    #expect(try Data(contentsOf: URL(filePath: tool.report)).isEmpty)
  }

  @Test(arguments: ["input", "output"])
  func `a report takes the place neither of what is read nor of what is written`(name: String) async throws {
    let tool = try AttacheTool()
    for name in ["input", "output"] { try "{}\n".write(toFile: tool.home[name], atomically: true, encoding: .utf8) }
    let output = unsafe open(tool.home["output"], O_WRONLY | O_APPEND | O_CLOEXEC)
    defer { close(output) }
    let run = try await tool.run(["--report", tool.home[name]]) {
      $0.input = .file(tool.home["input"])
      $0.output = .descriptor(output)
    }
    #expect(run.exit == .status(64))
    #expect(run.errors.contains("choose another"), "\(run.errors)")
    for name in ["input", "output"] { #expect(try String(contentsOfFile: tool.home[name], encoding: .utf8) == "{}\n") }
  }

  @Test func `standard output is another file than standard input`() async throws {
    let tool = try AttacheTool()
    try "{}\n".write(toFile: tool.home["input"], atomically: true, encoding: .utf8)
    let output = unsafe open(tool.home["input"], O_WRONLY | O_APPEND | O_CLOEXEC)
    defer { close(output) }
    let run = try await tool.run {
      $0.input = .file(tool.home["input"])
      $0.output = .descriptor(output)
    }
    #expect(run.exit == .status(64))
    #expect(try String(contentsOfFile: tool.home["input"], encoding: .utf8) == "{}\n")
  }

  @Test(arguments: ["/dev/stderr", "/dev/fd/2", "/proc/self/fd/2", "its name"])
  func `a report to standard error follows what is in its file`(path: String) async throws {
    let tool = try AttacheTool()
    try "before\n".write(toFile: tool.home["errors"], atomically: true, encoding: .utf8)
    let errors = unsafe open(tool.home["errors"], O_WRONLY | O_CLOEXEC)
    defer { close(errors) }
    lseek(errors, 0, SEEK_END)
    let input = Sample.payload("http://cdn.example/a") + "\n{}\n"
    let run = try await tool.run(["--report", path == "its name" ? tool.home["errors"] : path], input: input) {
      $0.errors = .descriptor(errors)
    }
    #expect(run.exit == .status(0))
    let lines = try String(contentsOfFile: tool.home["errors"], encoding: .utf8).split(separator: "\n")
    #expect(lines.count == 6)
    #expect(lines.first == "before")
    #expect(lines.filter { $0.hasPrefix("{\"line\":") }.count == 2)
    #expect(lines.filter { $0.hasPrefix("attache: ") }.count == 3)
  }

  @Test func `a report that cannot be opened ends with 74 before a line is read`() async throws {
    let run = try await AttacheTool().start(["--report", "/nowhere/report"]).finished()
    #expect(run.exit == .status(74))
    #expect(run.output == [])
    #expect(run.errors.contains("/nowhere/report"))
  }

  @Test func `a report that cannot be written costs no line and ends with 74`() async throws {
    let input = PassThroughTests.input(count: 3_000, seed: 6)
    let run = try await AttacheTool().run(["--report", "/dev/full"], input: input)
    #expect(isSame(run.output, input))
    #expect(run.exit == .status(74))
    #expect(run.errors.contains("the report is incomplete"))
  }
}
