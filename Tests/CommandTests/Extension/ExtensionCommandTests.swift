import Attache
import AttacheTesting
import Foundation
import Glibc
import Testing

/// `attache extension build`, and `--extension` of the filter and of a rehearsal.
@Suite(.timeLimit(.minutes(5)), .serialized)
struct ExtensionCommandTests {
  private static let fixtures = Sample.fixtures + "/extensions"

  /// Builds a fixture with the tool. The compiled library is kept beside the build.
  static func build(_ name: String, _ tool: AttacheTool) async throws -> String {
    let folder = tool.home["Built"]
    let temporary = tool.home["build-tmp"]
    try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: true)
    let run = try await tool.run(["extension", "build", "\(fixtures)/\(name)", "-o", folder]) { launch in
      compiler(&launch)
      launch.environment["TMPDIR"] = temporary
    }
    try #require(run.exit == .status(0), "\(run.errors)")
    // Neither attache nor the compiler leaves anything there.
    #expect(try FileManager.default.contentsOfDirectory(atPath: temporary) == [])
    return folder
  }

  /// The compiler of the tests, and the library that an earlier test compiled.
  private static let compiler: @Sendable (inout Launch) -> Void = { launch in
    launch.environment["PATH"] = ProcessInfo.processInfo.environment["PATH"]
    launch.environment["XDG_CACHE_HOME"] = AttacheTool.folder + "/extension-caches"
  }

  private func payload(_ url: String) -> String {
    #"{"aps":{"alert":{"title":"Hello","body":"Text"},"mutable-content":1},"image":"\#(url)","n":1.10}"# + "\n"
  }

  @Test func `a filter attaches what the extension attaches`() async throws {
    try await withOrigin { origin in
      origin.serve("/photo.jpg", try Sample.medium("photo.jpg"), contentType: "image/jpeg")
      let tool = try AttacheTool()
      let line = payload(origin.url("/photo.jpg"))
      let run = try await tool.run(
        AttacheTool.loopback + ["--extension", Self.build("Tutorial.swift", tool)], input: line + Sample.plain + "\n")
      #expect(run.exit == .status(0), "\(run.errors)")
      let attachment = try #require(Enriched.attachments(String(run.text.prefix { $0 != "\n" })).first)
      #expect(attachment.url.hasSuffix(".jpg") && run.text.contains(#""source":"\#(origin.url("/photo.jpg"))""#))
      // The bytes before the new member, and the other line, are those of the input.
      #expect(run.text.hasPrefix(line.dropLast(2)) && run.text.hasSuffix("\n" + Sample.plain + "\n"))
      #expect(try FileManager.default.contents(atPath: String(attachment.url.dropFirst(7))) == Data(Sample.medium("photo.jpg")))
    }
  }

  @Test func `changed texts replace only their own bytes`() async throws {
    let tool = try AttacheTool()
    let line = #"{ "aps" : {"alert":{"title":"Hello","body":"T\u0065xt"},"mutable-content":1}, "n":1.10 }"#
    let run = try await tool.run(["--report", tool.report, "--extension", Self.build("OverridesInit.swift", tool)], input: line + "\n")
    let expected =
      #"{ "aps" : {"alert":{"title":"Hello","body":"T\u0065xt"},"mutable-content":1,"badge":3,"sound":"bell.caf","category":"NEWS","#
      + #""interruption-level":"time-sensitive","relevance-score":0.5}, "n":1.10 }"#
    #expect(run.text == expected + "\n")
    #expect(run.exit == .status(0))
    let names = ["badge", "sound", "category", "interruption-level", "relevance-score"].map { "/aps/\($0)" }
    #expect(try ReportLine.read(tool.report).first?.changed == names)
  }

  @Test func `a picture that the extension attaches is converted`() async throws {
    try await withOrigin { origin in
      origin.serve("/photo.jpg", try Sample.medium("photo.webp"), contentType: "image/webp")
      let tool = try AttacheTool()
      let line = payload(origin.url("/photo.jpg"))
      let flags = AttacheTool.loopback + ["--report", tool.report, "--extension", try await Self.build("Tutorial.swift", tool)]
      let plain = try await tool.run(flags, input: line)
      #expect(plain.text == line && plain.exit == .status(0))
      #expect(try ReportLine.read(tool.report).map(\.reason) == ["type.unsupported"])
      let converted = try await tool.run(flags + ["--convert", "--deadline", "20s"], input: line)
      let attachment = try #require(Enriched.attachments(converted.text).first, "\(converted.errors)")
      #expect(attachment.type == "public.jpeg" && attachment.url.hasSuffix(".jpg"))
      let report = try String(contentsOfFile: tool.report, encoding: .utf8)
      #expect(report.contains(#""converted":{"from":"image/webp","size":\#(attachment.size),"width":96,"height":64}"#), "\(report)")
      #expect(try ReportLine.read(tool.report).first?.media.first?.bytes == Sample.medium("photo.webp").count)
    }
  }

  @Test(arguments: ["Traps", "Exits", "Floods", "Allocates", "IgnoresExpiry", "ClosesFrames", "WritesFrames", "Forks"])
  func `whatever the extension does, every line comes in time`(fixture: String) async throws {
    let tool = try AttacheTool()
    let program = try await Self.build("Hostile/\(fixture).swift", tool)
    let input = (1...12).map { #"{"aps":{"alert":"\#($0)","mutable-content":1}}"# + "\n" }.joined() + Sample.plain + "\n"
    let flags = ["--report", tool.report, "--extension", program, "--deadline", "700ms"]
    let run = try await tool.run(flags, input: input)
    #expect(run.exit == .status(0), "\(run.errors.suffix(400))")
    #expect(run.text == input)
    let records = try ReportLine.read(tool.report)
    #expect(records.count == 13)
    for record in records { #expect(record.latenessMs.map { $0 < 100 } == true, "\(record)") }
    #expect(records.last?.reason == "payload.not-mutable")
    let reasons = Set(records.dropLast().compactMap(\.reason))
    #expect(!reasons.isEmpty && reasons.isSubset(of: ["deadline", "extension.crash", "extension.memory"]), "\(reasons)")
    // A killed process may be listed until the kernel has taken it down.
    while Self.isRunning(program), !Task.isCancelled { await Task.yield() }
  }

  /// Whether a process runs the extension's program, or was started by it.
  private static func isRunning(_ program: String) -> Bool {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return names.contains { (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\($0)/exe")) == program + "/Extension" }
  }

  @Test func `a worker and a batch serve with the extension, too`() async throws {
    let tool = try AttacheTool()
    let program = try await Self.build("Answers/Template.swift", tool)
    let line = #"{"aps":{"alert":{"title":"a","body":"b"},"mutable-content":1}}"# + "\n"
    let expected = line.replacingOccurrences(of: #""a""#, with: #""a [modified]""#)
    let (queue, input, output) = ("sqlite:\(tool.home["q.db"])", tool.home["in"], tool.home["out"])
    #expect(try await tool.run(["enqueue", "--queue", queue], input: line).exit == .status(0))
    #expect(try await tool.run(["work", "--queue", queue, "--once", "--extension", program]).exit == .status(0))
    #expect(try await tool.run(["results", "--queue", queue]).text == expected)
    try line.write(toFile: input, atomically: true, encoding: .utf8)
    #expect(try await tool.run(["batch", input, "-o", output, "--extension", program]).exit == .status(0))
    #expect(try String(contentsOfFile: output, encoding: .utf8) == expected)
  }

  @Test func `the URL of the payload becomes the store's address of what the extension attached`() async throws {
    try await withOrigin { origin in
      origin.serve("/photo.jpg", try Sample.medium("photo.jpg"), contentType: "image/jpeg")
      let tool = try AttacheTool()
      let line = payload(origin.url("/photo.jpg"))
      let flags = AttacheTool.loopback + ["--attach-as", "url", "--base-url", "https://cdn.example/"]
      let run = try await tool.run(flags + ["--extension", Self.build("Tutorial.swift", tool)], input: line)
      let stored = try #require(tool.storedFiles().first { $0.hasSuffix(".jpg") })
      #expect(run.text == line.replacingOccurrences(of: origin.url("/photo.jpg"), with: "https://cdn.example/\(stored)"), "\(run.errors)")
    }
  }

  @Test func `what the extension attaches is uploaded`() async throws {
    try await withOrigin { origin in
      let bytes = try Sample.medium("photo.jpg")
      let hash = SHA256.hash(bytes).hexadecimal()
      let object = "/media/push/\(hash.prefix(2))/\(hash).jpg"
      origin.serve("/photo.jpg", bytes, contentType: "image/jpeg")
      origin.serve(object, [])
      origin.serve("/media/push/.attache-probe", Array("attache\n".utf8))
      let tool = try AttacheTool()
      let credentials = tool.home["credentials"]
      try Data("[default]\naws_access_key_id=A\naws_secret_access_key=B\n".utf8).write(to: URL(filePath: credentials))
      unsafe chmod(credentials, 0o600)
      let flags = ["--upload", "s3://media/push", "--upload-endpoint", origin.url(""), "--upload-credentials", credentials]
      let program = try await Self.build("Tutorial.swift", tool)
      let run = try await tool.run(AttacheTool.loopback + flags + ["--extension", program], input: payload(origin.url("/photo.jpg")))
      #expect(Enriched.attachments(run.text).first?.url == origin.url(object), "\(run.errors)")
      #expect(origin.requests.contains { $0.path == object && $0.method == "PUT" })
    }
  }

  @Test func `a host that is denied is not reached by the extension either`() async throws {
    try await withOrigin { origin in
      origin.serve("/photo.jpg", try Sample.medium("photo.jpg"), contentType: "image/jpeg")
      let tool = try AttacheTool()
      let line = payload(origin.url("/photo.jpg"))
      let program = try await Self.build("Tutorial.swift", tool)
      for flags in [["--allow-http"], AttacheTool.loopback + ["--deny-host", "127.0.0.1"], ["--allow-net", "127.0.0.0/8"]] {
        let run = try await tool.run(flags + ["--extension", program], input: line)
        #expect(run.exit == .status(0) && run.text == line, "\(flags): \(run.errors)")
      }
      #expect(origin.requests.isEmpty)
    }
  }

  @Test func `a thousand notifications go through one process without growth`() async throws {
    let tool = try AttacheTool()
    let program = try await Self.build("Careful.swift", tool)
    let input = String(repeating: #"{"aps":{"alert":"Hello","mutable-content":1}}"# + "\n", count: 1_000)
    // A bare extension has 3 to 4 MB; one that kept its requests would have more than twice that.
    let flags = ["--report", tool.report, "--extension", program, "--extension-processes", "1", "--extension-memory", "8MB"]
    let run = try await tool.run(flags, input: input)
    #expect(run.exit == .status(0) && run.text == input)
    #expect(Set(try ReportLine.read(tool.report).map(\.reason)) == ["payload.no-media"], "\(run.errors.suffix(500))")
  }

  @Test func `a request has the collapse identifier of its envelope`() async throws {
    let tool = try AttacheTool()
    let payload = #"{"aps":{"alert":{"body":"b"},"mutable-content":1}}"#
    let line = #"{"message":{"token":"t","apns":{"headers":{"apns-collapse-id":"news-7"},"payload":\#(payload)}}}"#
    let run = try await tool.run(["--extension", Self.build("Answers/SaysIdentifier.swift", tool)], input: "\(line)\n\(payload)\n")
    let lines = run.text.split(separator: "\n")
    try #require(lines.count == 2, "\(run.errors)")
    #expect(lines[0].contains(#""title":"news-7""#), "\(lines)")
    #expect(lines[1].contains(/"title":"[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}"/), "\(lines)")
  }

  @Test func `content that cannot be written leaves the line as it is`() async throws {
    let tool = try AttacheTool()
    let lines = ["5000", "3000000"].map { #"{"aps":{"alert":"a","mutable-content":1},"count":\#($0)}"# + "\n" }.joined()
    let flags = ["--report", tool.report, "--extension", try await Self.build("Answers/AnswersTooMuch.swift", tool)]
    let run = try await tool.run(flags, input: lines)
    #expect(run.text == lines && run.exit == .status(0), "\(run.errors)")
    #expect(try ReportLine.read(tool.report).map(\.reason) == ["extension.content", "extension.content"])
    #expect(run.errors.contains("longer than a megabyte"), "\(run.errors)")
  }

  @Test func `a download that failed is in the report`() async throws {
    try await withOrigin { origin in
      let tool = try AttacheTool()
      let line = payload(origin.url("/gone.jpg"))
      let flags = AttacheTool.loopback + ["--report", tool.report, "--extension", try await Self.build("Careful.swift", tool)]
      let run = try await tool.run(flags, input: line)
      #expect(run.text == line && run.exit == .status(0))
      let record = try #require(ReportLine.read(tool.report).first)
      #expect(record.outcome == "fallback" && record.reason == "http.status", "\(record)")
      #expect(record.media.map(\.status) == [404] && record.media.map(\.url) == [origin.url("/gone.jpg")])
    }
  }

  @Test func `the folder of a run that was killed is removed by the next run`() async throws {
    let tool = try AttacheTool()
    let program = try await Self.build("Hostile/IgnoresExpiry.swift", tool)
    let temporary = tool.home["tmp"]
    try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: true)
    func folders() throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: temporary).filter { $0.hasPrefix("attache-extension-") }
    }
    let line = #"{"aps":{"alert":"a","mutable-content":1}}"# + "\n"
    let killed = try tool.start(["--extension", program]) { $0.environment["TMPDIR"] = temporary }
    killed.input.write(Array(line.utf8))
    #expect(await killed.errors(holding: "waiting for ever").contains("waiting for ever"))
    killed.send(SIGKILL)
    _ = await killed.finished()
    #expect(try folders().count == 1)
    let next = try await tool.run(["--extension", program, "--deadline", "200ms"], input: line) { $0.environment["TMPDIR"] = temporary }
    #expect(next.text == line)
    #expect(try folders() == [])
  }

  @Test func `the notification centre outlives a process`() async throws {
    let tool = try AttacheTool()
    let program = try await Self.build("Centre.swift", tool)
    let lines = ["one", "two", "crash", "three"].map { #"{"aps":{"alert":{"body":"\#($0)"},"mutable-content":1},"\#($0)":1}"# }
    let flags = ["--jobs", "1", "--extension-processes", "1", "--extension", program]
    let run = try await tool.run(flags, input: lines.joined(separator: "\n") + "\n")
    let titles = run.text.split(separator: "\n").map { line -> String? in
      let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      return ((object?["aps"] as? [String: Any])?["alert"] as? [String: Any])?["title"] as? String
    }
    let expected = [
      "[] [] []", #"["one"] ["Reminder of one"] ["to one"]"#, nil, #"["", "one", "two"] ["Reminder of two"] ["to one", "to two"]"#,
    ]
    #expect(titles == expected, "\(run.errors)")
  }

  @Test func `a source is no program, and the error says how to build it`() async throws {
    let tool = try AttacheTool()
    for command in [[], ["filter"], ["batch", "in", "-o", "out"]] {
      let run = try await tool.run(command + ["--extension", "Service.swift"])
      #expect(run.exit == .status(64))
      #expect(run.errors.contains("attache extension build Service.swift -o MyExtension"), "\(run.errors)")
    }
    let run = try await tool.run(["--extension", tool.home.path])
    #expect(run.exit == .status(64) && run.errors.contains("not what attache extension build makes"), "\(run.errors)")
  }

  @Test func `sources that do not compile are told as the compiler tells them`() async throws {
    let tool = try AttacheTool()
    let file = tool.home["Service.swift"]
    try "import UserNotifications\nclass A: UNNotificationServiceExtension { let a: Missing }\n".write(
      toFile: file, atomically: true, encoding: .utf8)
    let run = try await tool.run(["extension", "build", file, "-o", tool.home["Out"]], change: Self.compiler)
    #expect(run.exit == .status(65))
    #expect(run.errors.contains("Service.swift:2:50: error: cannot find type 'Missing' in scope"), "\(run.errors)")
    #expect(!FileManager.default.fileExists(atPath: tool.home["Out"]))
  }

  @Test func `a rehearsal names what a tutorial's extension does wrong`() async throws {
    let tool = try AttacheTool()
    let flags = ["--only", "404", "--only", "slow", "--json", tool.home["r.json"], "--junit", tool.home["r.xml"]]
    let run = try await tool.run(["rehearse", "--extension", Self.fixtures + "/Tutorial.swift"] + flags, change: Self.compiler)
    #expect(run.exit == .status(99), "\(run.errors)")
    for words in [
      "error  attach.error-page: ", "error  answer.twice: ", "warning  fetch.after-expiry: ", "Remember that you have answered.",
    ] {
      #expect(run.text.contains(words), "\(run.text)")
    }
    let junit = try String(contentsOfFile: tool.home["r.xml"], encoding: .utf8)
    #expect(junit.contains(#"<testcase name="slow" classname="rehearsal.extension""#), "\(junit)")
    let json = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: tool.home["r.json"]))) as? [String: Any]
    let scenarios = json?["scenarios"] as? [[String: Any]] ?? []
    #expect(scenarios.count == 2 && scenarios.allSatisfy { $0["depth"] as? String == "extension" })
  }

  @Test func `a page shows each situation's notification before and after the extension`() async throws {
    let tool = try AttacheTool()
    let page = tool.home["page.html"]
    let flags = ["--only", "ok", "--only", "plain", "--only", "over-limit", "--preview", page]
    let run = try await tool.run(["rehearse", "--extension", Self.fixtures + "/Tutorial.swift"] + flags, change: Self.compiler)
    #expect(run.exit == .status(0), "\(run.errors)")
    let items = try RehearsePreviewTests.items(page)
    func item(_ situation: String) throws -> [String: Any] {
      try #require(items.first { ($0["scenario"] as? String)?.hasPrefix(situation + " (") == true }, "\(items.map { $0["scenario"] })")
    }
    let attached = try item("ok")
    let (before, after) = (try #require(attached["before"] as? [String: Any]), try #require(attached["after"] as? [String: Any]))
    #expect(before["title"] as? String == "Good morning" && after["title"] as? String == "Good morning")
    func media(_ card: [String: Any]) -> Int { (card["media"] as? [String] ?? []).count }
    #expect(media(before) == 0 && media(after) == 1)
    let text = try String(contentsOfFile: page, encoding: .utf8)
    #expect(text.contains(#"data:image\/jpeg;base64,"#))
    #expect(attached["outcome"] as? String == "attached")
    let (plain, refused) = (try item("plain"), try item("over-limit"))
    #expect(plain["outcome"] as? String == "passthrough")
    #expect(media(try #require(refused["after"] as? [String: Any])) == 0)
    let deviations = refused["deviations"] as? [String] ?? []
    #expect(deviations.contains { $0.hasPrefix("attach.refused: ") }, "\(refused)")
  }

  @Test func `a page shows the texts that an extension changed`() async throws {
    let tool = try AttacheTool()
    let (page, json) = (tool.home["page.html"], tool.home["r.json"])
    let flags = ["--only", "plain", "--preview", page, "--json", json]
    let run = try await tool.run(["rehearse", "--extension", Self.fixtures + "/Answers/Template.swift"] + flags, change: Self.compiler)
    #expect(run.exit == .status(0), "\(run.errors)")
    let item = try #require(RehearsePreviewTests.items(page).first)
    #expect((item["before"] as? [String: Any])?["title"] as? String == "Good morning")
    #expect((item["after"] as? [String: Any])?["title"] as? String == "Good morning [modified]")
    let record = try String(contentsOfFile: json, encoding: .utf8)
    #expect(record.contains(#""outcome" : "attached""#))
  }

  @Test(arguments: [
    (["--repeat", "2"], "--repeat applies to scenario files"), (["--seed", "1"], "--seed applies to scenario files"),
    (["--parallel", "1"], "--parallel applies to scenario files"), (["--keep-going"], "--keep-going applies to scenario files"),
    (["--instances", "old"], "'new' and 'reuse'"), (["--processes", "old"], "'kept' and 'fresh'"),
    (["a.yaml", "--instances", "reuse"], "--instances applies to the built-in situations"),
    (["a.yaml", "--payloads", "p"], "--payloads applies to the built-in situations"),
  ])
  func `a flag that would do nothing is refused by its name`(flags: [String], words: String) async throws {
    let run = try await AttacheTool().run(["rehearse", "--extension", "Service.swift"] + flags)
    #expect(run.exit == .status(64) && run.errors.contains(words), "\(run.errors)")
  }

  @Test func `the flags of instances and processes need an extension`() async throws {
    let cases = [(["a.yaml"], "--processes needs --extension"), (["--app-delegate", "A.swift"], "remove --instances and --processes")]
    for (flags, words) in cases {
      let run = try await AttacheTool().run(["rehearse"] + flags + ["--processes", "fresh"])
      #expect(run.exit == .status(64) && run.errors.contains(words), "\(run.errors)")
    }
  }

  @Test func `a rehearsal warns about unused lines, a missing mutable-content and media that nobody asked for`() async throws {
    let tool = try AttacheTool()
    let file = tool.home["payloads"]
    let payload = #"{"aps":{"alert":"Hello"},"image":"https://cdn.example/a.jpg"}"#
    try #"\n{"message":{"token":"t","apns":{"payload":\#(payload)}}}\n{}\n"#.replacingOccurrences(of: "\\n", with: "\n").write(
      toFile: file, atomically: true, encoding: .utf8)
    let program = try await Self.build("Answers/Template.swift", tool)
    let run = try await tool.run(["rehearse", "--extension", program, "--only", "ok", "--payloads", file])
    #expect(run.exit == .status(0), "\(run.errors)")
    for words in ["has 2 lines; the first is rehearsed", "\"mutable-content\" in \"aps\" is not 1", "it asked for no media, although"] {
      #expect(run.errors.contains(words), "\(run.errors)")
    }
    try "[]".write(toFile: file, atomically: true, encoding: .utf8)
    let refused = try await tool.run(["rehearse", "--extension", program, "--payloads", file])
    #expect(refused.exit == .status(65) && refused.errors.contains("the line is not a JSON object"), "\(refused.errors)")
  }

  @Test func `the findings are listed with their levels, their meanings and their advice`() async throws {
    let run = try await AttacheTool().run(["reasons", "--findings"])
    #expect(run.exit == .status(0), "\(run.errors)")
    let rows = run.text.split(separator: "\n")
    #expect(rows.map { String($0.prefix { $0 != " " }) } == ExtensionFinding.kinds.map(\.rawValue))
    for (row, kind) in zip(rows, ExtensionFinding.kinds) {
      for words in [kind.level?.rawValue, kind.meaning, kind.advice] { #expect(row.contains("  \(words ?? "-")"), "\(row)") }
    }
  }

  @Test func `scenarios play with an extension in the filter`() async throws {
    let tool = try AttacheTool()
    let program = try await Self.build("Hostile/Traps.swift", tool)
    let scenarios = ["origin-serves-a-photo.yaml", "origin-stalls-within-the-body.yaml"].map { Sample.fixtures + "/scenarios/" + $0 }
    try #require(scenarios.allSatisfy(FileManager.default.fileExists), "the scenarios were renamed")
    let run = try await tool.run(["rehearse", "--extension", program] + scenarios)
    #expect(run.exit == .status(0), "\(run.text)")
  }

  @Test func `a scenario allows an extension the changes that it reports`() async throws {
    let tool = try AttacheTool()
    let program = try await Self.build("Answers/Template.swift", tool)
    let run = try await tool.run(["rehearse", "--extension", program, Sample.fixtures + "/scenarios/origin-serves-a-photo.yaml"])
    #expect(run.exit == .status(0) && !run.text.contains("altered"), "\(run.text)")
  }
}
