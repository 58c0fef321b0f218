import AttacheTesting
import Foundation
import Testing

/// Where attache looks for media, and the form of an enriched line.
@Suite(.timeLimit(.minutes(1)))
struct PayloadFlagTests {
  private static func payload(_ members: String) -> String {
    #"{"aps":{"alert":"Hello","mutable-content":1},\#(members)}"#
  }

  @Test(arguments: [
    ("data.image", #""data":{"image":"URL"}"#), ("/data/image", #""data":{"image":"URL"}"#), ("my-image", #""my-image":"URL""#),
    ("/a.b/c~1d", #""a.b":{"c/d":"URL"}"#), ("list", #""list":["URL"]"#), ("list", #""list":[{"url":"URL","identifier":"i"}]"#),
    ("list.0", #""list":["URL","other"]"#), ("one", #""one":{"url":"URL"}"#),
  ])
  func `a media key names a place`(key: String, members: String) async throws {
    try await withPicture { origin, url in
      let line = Self.payload(members.replacing("URL", with: url))
      let run = try await AttacheTool().run(AttacheTool.loopback + ["--media-key", key], input: line)
      #expect(Enriched.attachments(run.text).map(\.source) == [url])
      #expect(try await AttacheTool().run(AttacheTool.loopback, input: line).text == line, "without the flag attache does not look there")
    }
  }

  @Test func `media keys come before the dialects, in their order`() async throws {
    try await withPicture { origin, url in
      let line = Self.payload(#""media-url":"\#(url)?3","second":"\#(url)?2","first":["\#(url)?1"]"#)
      let run = try await AttacheTool().run(AttacheTool.loopback + ["--media-key", "first", "--media-key", "second"], input: line)
      #expect(Enriched.attachments(run.text).map(\.source).prefix(2) == ["\(url)?1", "\(url)?2"])
    }
  }

  @Test func `a media key that holds no URL is refused by policy`() async throws {
    let line = Self.payload(#""image":"no URL""#)
    let (run, records) = try await AttacheTool().reported(["--media-key", "image"], input: line)
    #expect(run.text == line)
    #expect(records.map(\.reason) == ["policy.url"])
  }

  @Test func `only the named dialects are asked`() async throws {
    try await withPicture { origin, url in
      let lines = [Self.payload(#""fcm_options":{"image":"\#(url)"}"#), Self.payload(#""media-url":"\#(url)""#)].joined(separator: "\n")
      for (name, counts) in [("firebase", [1, 0]), ("generic", [0, 1])] {
        let run = try await AttacheTool().run(AttacheTool.loopback + ["--dialect", name], input: lines)
        #expect(run.text.split(separator: "\n").map { Enriched.attachments($0).count } == counts, "\(name)")
      }
    }
  }

  @Test func `the output key renames the member`() async throws {
    try await withPicture { origin, url in
      let line = Sample.payload(url)
      let run = try await AttacheTool().run(AttacheTool.loopback + ["--output-key", "my \"media\""], input: line)
      #expect(run.text.hasPrefix(line.dropLast() + #","my \"media\"":{"attachments":[{"identifier":""#))
    }
  }

  @Test(arguments: ["https://cdn.example/push/", "https://cdn.example/push"])
  func `a base URL takes the place of the store's`(base: String) async throws {
    try await withPicture { origin, url in
      let tool = try AttacheTool()
      let run = try await tool.run(AttacheTool.loopback + ["--base-url", base], input: Sample.payload(url))
      let attachment = try #require(Enriched.attachments(run.text).first)
      #expect(attachment.url == "https://cdn.example/push/\(attachment.sha256.prefix(2))/\(attachment.sha256).png")
    }
  }

  @Test(arguments: ["url", "both"])
  func `the public address takes the place of the URL, and the second run changes nothing`(form: String) async throws {
    try await withPicture { origin, url in
      let tool = try AttacheTool()
      let flags = AttacheTool.loopback + ["--base-url", "https://cdn.example/push", "--attach-as", form]
      let member = try await tool.run(AttacheTool.loopback, input: Sample.payload(url))
      let sha256 = try #require(Enriched.attachments(member.text).first).sha256
      let address = "https://cdn.example/push/\(sha256.prefix(2))/\(sha256).png"
      let (once, records) = try await tool.reported(flags, input: Sample.payload(url))
      #expect(records.map(\.outcome) == ["attached"])
      let twin = Sample.payload(url).replacing(url, with: address)
      #expect(form == "url" ? once.text == twin : once.text.hasPrefix(twin.dropLast() + #","attache":{"attachments":[{"#))
      let (twice, more) = try await tool.reported(flags, input: once.text)
      #expect(twice.output == once.output)
      #expect(more.map(\.reason) == ["payload.enriched"])
    }
  }

  @Test func `an enriched payload beyond the maximum is a fallback`() async throws {
    try await withPicture { origin, url in
      let line = Sample.payload(url)
      let whole = try await AttacheTool().run(AttacheTool.loopback + ["--base-url", "https://cdn.example/"], input: line).output.count
      for (maximum, reason) in [(whole, nil), (whole - 1, "payload.maximum")] {
        let flags = AttacheTool.loopback + ["--base-url", "https://cdn.example/", "--max-payload", "\(maximum)"]
        let (run, records) = try await AttacheTool().reported(flags, input: line)
        #expect(records.map(\.reason) == [reason])
        #expect((run.text == line) == (reason != nil))
      }
    }
  }

  @Test func `a body that is cut makes an enriched payload fit, and the record says so`() async throws {
    try await withPicture { origin, url in
      let line = Sample.payload(url)
      let base = AttacheTool.loopback + ["--base-url", "https://cdn.example/"]
      let long = line.replacing("Hello", with: String(repeating: "x", count: 4_000))
      let (run, records) = try await AttacheTool().reported(base + ["--fit-payload"], input: long)
      #expect(records.map(\.outcome) == ["attached"])
      #expect(run.output.count == 4_096 && run.text.contains(#"xx…","mutable-content":1"#))
      let report = try await AttacheTool().reported(base, input: long)
      #expect(report.1.map(\.reason) == ["payload.maximum"] && report.0.text == long)
      let refused = try await AttacheTool().run(base + ["--fit-payload", "--max-payload", "none"], input: line)
      #expect(refused.exit == .status(64) && refused.errors.contains("--fit-payload cuts nothing"))
    }
  }

  @Test func `a public address never makes a payload larger than APNs accepts, unless the flags say so`() async throws {
    try await withPicture { origin, url in
      let line = Sample.payload(url).dropLast() + #","text":"\#(String(repeating: "x", count: 3_850))"}"#
      let base = ["--base-url", "https://cdn.example/"]
      for (flags, reason) in [(base, "payload.maximum"), (base + ["--max-payload", "none"], nil), ([], nil)] {
        let (run, records) = try await AttacheTool().reported(AttacheTool.loopback + flags, input: String(line))
        #expect(records.map(\.reason) == [reason])
        #expect((run.text == line) == (reason != nil))
      }
      let inspection = try await AttacheTool().run(["inspect", "--fetch"] + AttacheTool.loopback + base, input: String(line)).text
      #expect(inspection.contains("With its attachments it would have") && inspection.contains("(payload.maximum)."), "\(inspection)")
    }
  }

  @Test func `running attache twice is running it once`() async throws {
    try await withPicture { origin, url in
      let once = try await AttacheTool().run(AttacheTool.loopback, input: Sample.payload(url) + "\r\n")
      #expect(Enriched.attachments(once.text).count == 1)
      let (twice, records) = try await AttacheTool().reported(AttacheTool.loopback, input: once.text)
      #expect(twice.output == once.output)
      #expect(records.map(\.reason) == ["payload.enriched"])
      #expect(origin.requestCount() == 1)
    }
  }

  @Test func `a forged member is told of in the report, in the summary and on standard error`() async throws {
    let forged = #""attache":{"attachments":[{"url":"file:///etc/passwd"}]}"#
    let lines = [
      Sample.plain, #"{"aps":{"content-available":1},\#(forged)}"#, #"{\#(forged),"message":{"apns":{"payload":{"aps":{}}}}}"#,
    ]
    let input = lines.joined(separator: "\n")
    let (run, records) = try await AttacheTool().reported(input: input)
    #expect(run.text == input)
    #expect(records.map(\.outcome) == ["passthrough", "passthrough", "passthrough"])
    #expect(records.map(\.reason) == ["payload.not-mutable", "payload.enriched", "payload.enriched"])
    #expect(run.errors.contains("line 2: payload.enriched: the line already has the output member"))
    #expect(!run.errors.contains("line 3:"))
    #expect(run.errors.contains("3 passthrough (payload.enriched 2, payload.not-mutable 1)"))
  }

  private func withPicture(_ body: (FaultOrigin, String) async throws -> Void) async throws {
    try await withOrigin { origin in
      origin.serve("/picture", try Sample.medium("picture.png"))
      try await body(origin, origin.url("/picture"))
    }
  }
}
