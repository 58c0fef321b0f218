import AttacheTesting
import Foundation
import Glibc
import Testing

/// `--convert` through the built tool, whose converters are children of confined fetchers.
@Suite(.timeLimit(.minutes(2)))
struct ConvertFlagTests {
  @Test func `a line describes the converted file, and the report says what it was`() async throws {
    try await withOrigin { origin in
      origin.serve("/a", try Sample.medium("photo.webp"))
      let tool = try AttacheTool()
      let input = Sample.payload(origin.url("/a")) + "\n"
      let run = try await tool.run(AttacheTool.loopback + ["--convert", "--report", tool.report], input: input)
      #expect(run.exit == .status(0))
      let attachment = try #require(Enriched.attachments(run.text).first)
      #expect(attachment.type == "public.jpeg")
      #expect(attachment.source == origin.url("/a"))
      let report = try String(contentsOfFile: tool.report, encoding: .utf8)
      #expect(report.contains(#""converted":{"from":"image/webp","size":\#(attachment.size),"width":96,"height":64}"#), "\(report)")
    }
  }

  @Test func `without libvips the flag ends with 69 before a line is read, and says what to install`() async throws {
    let tool = try AttacheTool()
    try Data("no library".utf8).write(to: URL(filePath: tool.home["libvips.so.42"]))
    let program = try tool.start(["--convert"]) { $0.environment["LD_LIBRARY_PATH"] = tool.home.path }
    let run = await program.finished()
    #expect(run.exit == .status(69))
    #expect(run.errors.contains("apt-get install libvips42"), "\(run.errors)")
    let without = try await tool.run([], input: "{}\n") { $0.environment["LD_LIBRARY_PATH"] = tool.home.path }
    #expect(without.exit == .status(0), "only the flag needs it")
  }

  @Test(arguments: [(SIGKILL, "convert.failed"), (SIGSTOP, "convert.failed")])
  func `a converter that is killed or stopped costs its picture, and no other`(signal: Int32, reason: String) async throws {
    try await withOrigin { origin in
      origin.serve("/vast", try Sample.medium("photo-vast.webp"))
      origin.serve("/photo", try Sample.medium("photo.webp"))
      let tool = try AttacheTool()
      let flags = ["--convert", "--fetchers", "1", "--deadline", "4s", "--report", tool.report]
      let program = try tool.start(AttacheTool.loopback + flags)
      program.input.write(Sample.payload(origin.url("/vast")) + "\n")
      kill(try #require(await program.converter), signal)
      #expect(await program.lines(1).count == 1)
      program.input.write(Sample.payload(origin.url("/photo")) + "\n")
      program.input.close()
      let run = await program.finished()
      #expect(run.exit == .status(0))
      let records = try ReportLine.read(tool.report)
      #expect(records.map(\.reason) == [reason, nil])
      #expect(Enriched.attachments(run.text.split(separator: "\n").last ?? "").count == 1)
    }
  }
}

extension Program {
  /// The process that converts pictures, once it is at work.
  fileprivate var converter: pid_t? {
    get async {
      while !Task.isCancelled {
        if let converter = processes(named: "converter").first(where: { Self.ticks(of: $0) >= 5 }) { return converter }
        await Task.yield()
      }
      return nil
    }
  }

  /// The processor time that a process has used, in hundredths of a second.
  private static func ticks(of process: pid_t) -> Int {
    let status = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
    let fields = status.split(separator: ")").last?.split(separator: " ") ?? []
    // Field 14 of proc_pid_stat(5), counted without the first two.
    return fields.count > 11 ? Int(fields[11]) ?? 0 : 0
  }
}
