import AttacheTesting
import Foundation
import Glibc
import Testing

/// `--user-agent` and `--header-file`.
@Suite(.timeLimit(.minutes(2)))
struct RequestFieldTests {
  private static let secret = "Bearer 5up3r-53cr3t"
  private static let other = "Bearer an0th3r-53cr3t"

  /// Writes a file of fields, with a field of another origin.
  private func file(_ lines: String..., in tool: AttacheTool, mode: mode_t = 0o600) throws -> String {
    let path = tool.home["fields"]
    let text = (lines + ["https://other.example: Authorization: \(Self.other)"]).joined(separator: "\n") + "\n"
    try Data(text.utf8).write(to: URL(filePath: path))
    unsafe chmod(path, mode)
    return path
  }

  @Test func `the origin that a line names gets its field, no other does after a redirect, and no log has it`() async throws {
    try await withOrigin { origin in
      try await withOrigin { target in
        let tool = try AttacheTool()
        origin.serve("/a.png", try Sample.medium("picture.png"))
        origin.serve("/away", [], faults: [.redirect(to: target.url("/b.gif"))])
        target.serve("/b.gif", try Sample.medium("animation.gif"))
        target.serve("/here", [], faults: [.redirect(to: origin.url("/a.png?2"))])
        let fields = try file("\(origin.url("")): Authorization: \(Self.secret)", in: tool)
        let (run, records) = try await tool.reported(
          AttacheTool.loopback + ["--header-file", fields, "--user-agent", "push.example (media@push.example)", "--log-urls", "full"],
          input: ["/a.png", "/away"].map { Sample.payload(origin.url($0)) + "\n" }.joined() + Sample.payload(target.url("/here")) + "\n")
        #expect(records.map(\.outcome) == ["attached", "attached", "attached"])
        let asked = origin.requests.filter { $0.path == "/a.png" }
        #expect(asked.count == 2 && Set(asked.map { $0.field("authorization") }) == [Self.secret, nil])
        #expect(origin.requests.first { $0.path == "/away" }?.field("authorization") == Self.secret)
        #expect(target.requests.allSatisfy { $0.field("authorization") == nil })
        #expect((origin.requests + target.requests).allSatisfy { $0.field("user-agent") == "push.example (media@push.example)" })
        for text in [run.errors, run.text, try String(contentsOfFile: tool.report, encoding: .utf8)] {
          #expect(!text.contains("53cr3t"), "\(text)")
        }
      }
    }
  }

  @Test(arguments: ["work", "batch", "inspect"]) func `every command that fetches takes the flags`(command: String) async throws {
    try await withOrigin { origin in
      let queue = try QueueTool()
      origin.serve("/a.png", try Sample.medium("picture.png"))
      let flags =
        AttacheTool.loopback + [
          "--header-file", try file("\(origin.url("")): Authorization: \(Self.secret)", in: queue.tool), "--user-agent", "push.example",
        ]
      let input = Sample.payload(origin.url("/a.png")) + "\n"
      switch command {
      case "work": try await queue.work(input, flags)
      case "batch": _ = try await queue.tool.run(["batch", "-", "-o", queue.tool.home["out"]] + flags, input: input)
      default: _ = try await queue.tool.run(["inspect", "--fetch"] + flags, input: input)
      }
      #expect(origin.requests.map { $0.field("authorization") } == [Self.secret])
      #expect(origin.requests.map { $0.field("user-agent") } == ["push.example"])
    }
  }

  @Test func `the cache tells requests with different fields and agents apart`() async throws {
    try await withOrigin { origin in
      let tool = try AttacheTool()
      origin.serve("/a.png", try Sample.medium("picture.png"), faults: [.header(name: "Cache-Control", value: "max-age=3600")])
      let one = try file("\(origin.url("")): X-Key: 1", in: tool)
      let runs: [(flags: [String], requests: Int)] = [
        ([], 1), (["--header-file", one], 2), (["--header-file", one], 2), (["--user-agent", "a"], 3), (["--user-agent", "a"], 3), ([], 3),
        (["--user-agent", "a", "--header-file", one], 4),
      ]
      for (flags, requests) in runs {
        let run = try await tool.run(AttacheTool.loopback + flags, input: Sample.payload(origin.url("/a.png")) + "\n")
        #expect(Enriched.attachments(run.text).count == 1)
        #expect(origin.requests.count == requests, "\(flags)")
      }
      _ = try file("\(origin.url("")): X-Key: 2", in: tool)
      _ = try await tool.run(AttacheTool.loopback + ["--header-file", one], input: Sample.payload(origin.url("/a.png")) + "\n")
      #expect(origin.requests.count == 5)
    }
  }

  @Test func `no process that reads origins' bytes has the fields of an origin that was not asked`() async throws {
    try await withOrigin { origin in
      let tool = try AttacheTool()
      origin.serve("/a.png", try Sample.medium("picture.png"))
      let fields = try file("\(origin.url("")): Authorization: \(Self.secret)", in: tool)
      let program = try tool.start(AttacheTool.loopback + ["--header-file", fields])
      program.input.write(Sample.payload(origin.url("/a.png")) + "\n")
      #expect(await program.lines(1).count == 1)
      #expect(origin.requests.first?.field("authorization") == Self.secret)
      let processes = program.descendants
      #expect(!program.fetchers.isEmpty)
      if let own = Self.memory(of: program.process, has: Self.other) {
        #expect(own, "this test does not find what is there")
        for process in processes { #expect(Self.memory(of: process, has: Self.other) == false) }
      }
      program.input.close()
      #expect(await program.exit() == .status(0))
    }
  }

  @Test func `a file that came with a field is not published without --upload-private`() async throws {
    try await withOrigin { origin in
      let tool = try AttacheTool()
      origin.serve("/photo.jpg", try Sample.medium("photo.jpg"))
      origin.serve("/media/push/.attache-probe", Array("attache\n".utf8))
      let key = tool.home["credentials"]
      try Data("[default]\naws_access_key_id=A\naws_secret_access_key=B\n".utf8).write(to: URL(filePath: key))
      unsafe chmod(key, 0o600)
      let (_, records) = try await tool.reported(
        AttacheTool.loopback + [
          "--upload", "s3://media/push", "--upload-endpoint", origin.url(""), "--upload-credentials", key,
          "--header-file", try file("\(origin.url("")): X-Key: 1", in: tool),
        ], input: Sample.payload(origin.url("/photo.jpg")) + "\n")
      #expect(records.map(\.reason) == ["upload.private"])
    }
  }

  @Test(
    arguments: [
      (nil, 0o600, "cannot open"), ("", 0o644, "run chmod 600"), ("", 0o660, "run chmod 600"),
      ("https://cdn.example: Host: a", 0o600, "line 1"),
    ] as [(String?, mode_t, String)])
  func `a file that cannot be used ends with 65 before a line is read`(line: String?, mode: mode_t, message: String) async throws {
    let tool = try AttacheTool()
    let path = try line.map { try file($0, in: tool, mode: mode) } ?? tool.home["nowhere"]
    let program = try tool.start(["--header-file", path])
    let run = await program.finished()
    #expect(run.exit == .status(65))
    #expect(run.output == [])
    #expect(run.errors.contains("--header-file: ") && run.errors.contains(message), "\(run.errors)")
    #expect(!run.errors.contains("53cr3t"))
  }

  /// Returns whether the memory of a process that it may write has a text; nil if this process may not
  /// read it.
  private static func memory(of process: pid_t, has text: String) -> Bool? {
    guard let maps = try? String(contentsOfFile: "/proc/\(process)/maps", encoding: .utf8) else { return nil }
    let file = unsafe open("/proc/\(process)/mem", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    let wanted = Data(text.utf8)
    for line in maps.split(separator: "\n") {
      let words = line.split(separator: " ", maxSplits: 2)
      let ends = words[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
      guard words[1].hasPrefix("rw"), ends.count == 2, ends[1] - ends[0] <= 64 << 20 else { continue }
      var bytes = [UInt8](repeating: 0, count: Int(ends[1] - ends[0]))
      let count = unsafe pread(file, &bytes, bytes.count, off_t(ends[0]))
      if count > 0, Data(bytes.prefix(count)).range(of: wanted) != nil { return true }
    }
    return false
  }
}
