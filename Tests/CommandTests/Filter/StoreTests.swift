import AttacheTesting
import Foundation
import Glibc
import Testing

/// The store, at the start and during a run.
@Suite(.timeLimit(.minutes(1)))
struct StoreTests {
  @Test func `a store that cannot be created ends with 73 before a line is read`() async throws {
    let tool = try AttacheTool()
    try Data().write(to: URL(filePath: tool.home["file"]))
    let run = try await tool.start(["--store", tool.home["file/store"]]).finished()
    #expect(run.exit == .status(73))
    #expect(run.output == [])
    #expect(run.errors.contains(tool.home["file/store"]))
    #expect(run.errors.contains("--store"))
  }

  @Test func `the default store lies in XDG_CACHE_HOME, else in the home's cache`() async throws {
    try await withOrigin { origin in
      origin.serve("/a.png", try Sample.medium("picture.png"))
      let tool = try AttacheTool()
      let line = Sample.payload(origin.url("/a.png"))
      let run = try await tool.run(AttacheTool.loopback, input: line)
      #expect(try #require(Enriched.attachments(run.text).first).url.hasPrefix("file://\(tool.home.path)/cache/attache/"))
      for cache in [nil, "", "relative"] {
        let run = try await tool.run(AttacheTool.loopback, input: line) { $0.environment["XDG_CACHE_HOME"] = cache }
        #expect(try #require(Enriched.attachments(run.text).first).url.hasPrefix("file://\(tool.home.path)/.cache/attache/"))
      }
    }
  }

  @Test func `a store that attache creates is its user's alone`() async throws {
    try await withOrigin { origin in
      origin.serve("/a.png", try Sample.medium("picture.png"))
      let tool = try AttacheTool()
      let run = try await tool.run(AttacheTool.loopback, input: Sample.payload(origin.url("/a.png")))
      let attachment = try #require(Enriched.attachments(run.text).first)
      let url = try #require(URL(string: attachment.url))
      #expect(try mode(url.path(percentEncoded: false)) == 0o600)
      #expect(try mode(tool.store) == 0o700)
    }
  }

  @Test(.enabled(if: MemoryDisk.isPermitted, "mounting needs root's capability"))
  func `a store that fills on the way is a fallback, and the tool goes on`() async throws {
    try await withOrigin { origin in
      origin.serve("/a.png", try Sample.medium("picture.png"))
      origin.serve("/b.gif", try Sample.medium("animation.gif"))
      let tool = try AttacheTool()
      let disk = try MemoryDisk(at: tool.home["disk"])
      defer { disk.unmount() }
      let program = try tool.start(AttacheTool.loopback + ["--store", disk.path, "--report", tool.report])
      program.input.write(Sample.payload(origin.url("/a.png")) + "\n")
      #expect(Enriched.attachments(try #require(await program.lines(1).last)).count == 1)
      disk.fill()
      program.input.write(Sample.payload(origin.url("/b.gif")) + "\n")
      #expect(await program.lines(2).last == Sample.payload(origin.url("/b.gif")))
      disk.empty()
      program.input.write(Sample.payload(origin.url("/b.gif")) + "\n")
      #expect(Enriched.attachments(try #require(await program.lines(3).last)).count == 1)
      program.input.close()
      #expect(await program.exit() == .status(0))
      #expect(try ReportLine.read(tool.report).map(\.reason) == [nil, "store.full", nil])
      #expect(await String(decoding: program.errors.everything(), as: UTF8.self).contains("--store"))
    }
  }

  /// The steps of Documentation/operations.md for a full disk.
  @Test(.enabled(if: MemoryDisk.isPermitted, "mounting needs root's capability"), arguments: ["bytes", "files"])
  func `a prune makes room on a disk that has no byte or no file left, and the next run goes on`(lacking: String) async throws {
    try await withOrigin { origin in
      origin.serve("/a.png", try Sample.medium("picture.png"))
      origin.serve("/b.gif", try Sample.medium("animation.gif"))
      let tool = try AttacheTool()
      let disk = try MemoryDisk(at: tool.home["disk"], size: lacking == "bytes" ? "256k" : "256k,nr_inodes=40")
      defer { disk.unmount() }
      let flags = AttacheTool.loopback + ["--store", disk.path, "--cache", "off"]
      let first = try await tool.run(flags, input: Sample.payload(origin.url("/a.png")) + "\n")
      let old = try #require(Enriched.attachments(first.text).first?.url.dropFirst("file://".count))
      try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSinceNow: -2 * 86_400)], ofItemAtPath: String(old))
      disk.fill()
      if lacking == "files" {
        for number in 0..<100 where !FileManager.default.createFile(atPath: "\(disk.path)/other-\(number)", contents: nil) { break }
      }
      #expect(try await tool.start(flags).finished().exit == .status(73))
      let pruned = try await tool.run(["store", "prune", "--store", disk.path, "--store-age", "1d"])
      #expect(pruned.exit == .status(0), "\(pruned.errors)")
      #expect(pruned.text.hasPrefix("removed 1 files"), "\(pruned.text)")
      #expect(!FileManager.default.fileExists(atPath: String(old)))
      disk.empty()
      for number in 0..<100 { try? FileManager.default.removeItem(atPath: "\(disk.path)/other-\(number)") }
      let next = try await tool.run(flags, input: Sample.payload(origin.url("/b.gif")) + "\n")
      #expect(Enriched.attachments(next.text).count == 1, "\(next.errors)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path + "/tmp") == [])
    }
  }

  @Test(.enabled(if: MemoryDisk.isPermitted, "mounting needs root's capability"), arguments: [true, false])
  func `a store that cannot be written at the start ends with 73 before a line is read`(isReadOnly: Bool) async throws {
    let tool = try AttacheTool()
    let disk = try MemoryDisk(at: tool.home["disk"])
    defer { disk.unmount() }
    if isReadOnly { try disk.remount(readOnly: true) } else { disk.fill() }
    let run = try await tool.start(["--store", disk.path]).finished()
    #expect(run.exit == .status(73))
    #expect(run.output == [])
    #expect(run.errors.contains(disk.path))
  }

  private func mode(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }
}
