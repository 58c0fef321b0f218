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

  @Test func `a JPEG without its end marker is repaired, and the report says so, also from the cache`() async throws {
    try await withOrigin { origin in
      origin.serve("/a", try Sample.medium("photo-endless.jpg"), faults: [.header(name: "Cache-Control", value: "max-age=60")])
      let tool = try AttacheTool()
      for _ in 0..<2 {
        let input = Sample.payload(origin.url("/a")) + "\n"
        let run = try await tool.run(AttacheTool.loopback + ["--convert", "--report", tool.report], input: input)
        #expect(run.exit == .status(0))
        let size = try #require(Enriched.attachments(run.text).first).size
        let report = try String(contentsOfFile: tool.report, encoding: .utf8)
        #expect(
          report.contains(#""converted":{"from":"image/jpeg","size":\#(size),"width":96,"height":64,"repaired":true}"#), "\(report)")
      }
      let run = try await tool.run(AttacheTool.loopback, input: Sample.payload(origin.url("/a")) + "\n")
      #expect(run.errors.contains("type.broken"), "\(run.errors)")
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
      if signal == SIGKILL {
        #expect(run.errors.contains("the converter was killed (SIGKILL), not by the picture or attache: "), "\(run.errors)")
      }
    }
  }
}

extension ConvertFlagTests {
  /// A lossless WebP of 34 bytes: its five prefix codes have one symbol each, so that a pixel takes
  /// no bit. It is opaque.
  private static func flatWebP(width: Int, height: Int, colour: Int) -> [UInt8] {
    var body: [UInt8] = [0x2F]
    var (bits, count) = (0, 0)
    func put(_ value: Int, _ length: Int) {
      bits |= value << count
      count += length
      while count >= 8 {
        body.append(UInt8(bits & 0xFF))
        (bits, count) = (bits >> 8, count - 8)
      }
    }
    put(width - 1, 14)
    put(height - 1, 14)
    // No transparency, version 0; no transform, no cache of colours, one group of codes.
    put(0, 7)
    for symbol in [colour & 0xFF, colour >> 8 & 0xFF, 0, 0xFF] {
      put(0b101, 3)
      put(symbol, 8)
    }
    put(0b0001, 4)
    put(0, 8 * (14 - body.count) - count)
    func number(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(value >> (8 * $0) & 0xFF) } }
    return "RIFF".utf8 + number(12 + body.count) + "WEBPVP8L".utf8 + number(body.count) + body
  }

  @Test func `pictures for which one deadline would be too short are converted, each before its own`() async throws {
    try await withOrigin { origin in
      let tool = try AttacheTool()
      origin.serve("/plain", try Sample.medium("photo.jpg"))
      var lines: [String] = []
      for number in 0..<60 {
        origin.serve("/\(number)", Self.flatWebP(width: 4_000, height: 3_000, colour: number))
        lines += [Sample.payload(origin.url("/plain")), Sample.payload(origin.url("/\(number)"))]
      }
      let flags = ["--convert", "--fetchers", "1", "--deadline", "4s", "--report", tool.report]
      let run = try await tool.run(AttacheTool.loopback + flags, input: lines.map { $0 + "\n" }.joined())
      #expect(run.exit == .status(0))
      let records = try ReportLine.read(tool.report)
      #expect(records.count { $0.reason != nil } <= 3, "\(records.compactMap(\.reason))")
    }
  }

  @Test func `payloads with ten vast pictures each do not cost others theirs`() async throws {
    try await withOrigin { origin in
      let tool = try AttacheTool()
      var lines: [String] = []
      for number in 0..<80 {
        origin.serve("/vast-\(number)", Self.flatWebP(width: 9_000, height: 9_000, colour: number))
        origin.serve("/own-\(number)", Self.flatWebP(width: 600, height: 400, colour: number))
      }
      for stranger in 0..<8 {
        let media = (0..<10).map { "\"\($0)\":\"\(origin.url("/vast-\(10 * stranger + $0)"))\"" }.joined(separator: ",")
        lines.append(#"{"aps":{"alert":"Hello","mutable-content":1},"custom":{"i":"1"},"att":{\#(media)}}"#)
        lines += (0..<5).map { Sample.payload(origin.url("/own-\(5 * stranger + $0)")) }
      }
      // The vast pictures keep two converters busy for longer than the deadline. Each comes before
      // the pictures of five other payloads.
      let flags = ["--convert", "--fetchers", "2", "--deadline", "5s", "--report", tool.report]
      let run = try await tool.run(AttacheTool.loopback + flags, input: lines.map { $0 + "\n" }.joined())
      #expect(run.exit == .status(0))
      let records = try ReportLine.read(tool.report)
      #expect(records.count == lines.count)
      for record in records where record.line % 6 != 1 { #expect(record.reason == nil, "line \(record.line)") }
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
