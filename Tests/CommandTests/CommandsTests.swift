import Attache
import AttacheTesting
import Foundation
import Glibc
import Testing

/// The commands other than the filter.
@Suite(.timeLimit(.minutes(1)))
struct CommandsTests {
  @Test(arguments: [
    ["--help"], ["help", "filter"], ["filter", "--help"], ["store", "prune", "--help"], ["help", "inspect"], ["lint", "--help"],
    ["dialects", "--help"],
  ])
  func `help goes to standard output with status 0`(arguments: [String]) async throws {
    let run = try await AttacheTool().run(arguments)
    #expect(run.exit == .status(0))
    #expect(run.text.contains("USAGE: attache"))
    #expect(run.errors == "")
  }

  @Test func `the filter's help names every flag of the design`() async throws {
    let help = try await AttacheTool().run(["filter", "--help"]).text
    for flag in [
      "deadline", "grace", "on-expiry", "jobs", "window", "unordered", "store", "store-max", "store-age", "media-key", "payload-path",
      "dialect", "dialects", "strict-dialects",
      "allow-http", "allow-net", "allow-port", "cacert", "user-agent", "header-file", "dns-server", "allow-host", "deny-host", "limits",
      "max-attachments", "retries", "per-host", "fetchers", "max-pixels", "convert", "max-side", "source-limits", "max-source-pixels",
      "cache",
      "report", "report-key", "strict",
      "progress", "log-format", "output-key", "base-url", "attach-as", "max-payload", "fit-payload",
      "apply-overrides", "log-urls", "proxy", "upload", "upload-endpoint", "upload-region", "upload-credentials", "upload-keep",
      "upload-private",
    ] {
      #expect(help.contains("--\(flag) ") || help.contains("--\(flag)\n"), "\(flag)")
    }
  }

  @Test func `the version is the first line, and each library's follows`() async throws {
    let run = try await AttacheTool().run(["--version"])
    #expect(run.exit == .status(0))
    let version =
      /\d+\.\d+\.\d+\nlibcurl \d+\.\d+\.\d+ \(.+\)\nlibmagic \d+\.\d\d\nc-ares \d+\.\d+\.\d+\nsimdjson \d+\.\d+\.\d+\nSQLite \d+\.\d+\.\d+\n/
    #expect(run.text.wholeMatch(of: version) != nil, "\(run.text)")
    // One line more says what the kernel lacks.
    let verbose = try await AttacheTool().run(["--version", "--verbose"])
    #expect(verbose.exit == .status(0))
    #expect(verbose.text.hasPrefix(run.text + "fetchers run ") && verbose.text.split(separator: "\n").count == 7, "\(verbose.text)")
  }

  @Test func `reasons lists every reason with its advice and its scenario, a line each`() async throws {
    let run = try await AttacheTool().run(["reasons"])
    #expect(run.exit == .status(0))
    let rows = run.text.split(separator: "\n").map { $0.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true) }
    #expect(rows.map { String($0[0]) } == Reason.allCases.map(\.rawValue))
    for (row, reason) in zip(rows, Reason.allCases) {
      #expect(row[1].trimmingCharacters(in: .whitespaces).hasPrefix(reason.advice + "  "), "\(reason.rawValue)")
    }
  }

  @Test(arguments: [["reasons"], ["store", "prune"]])
  func `an output that is full ends with 74`(arguments: [String]) async throws {
    let tool = try AttacheTool()
    // It creates the store.
    _ = try await tool.run(["filter"], input: "{}")
    let run = try await tool.run(arguments) { $0.output = .file("/dev/full") }
    #expect(run.exit == .status(74))
    #expect(run.errors.contains("standard output: "))
  }

  @Test func `the filter by its name is the filter`() async throws {
    let run = try await AttacheTool().run(["filter", "--strict"], input: "{")
    #expect(run.exit == .status(65))
    #expect(run.text == "{")
  }

  // MARK: attache store prune

  @Test func `prune removes what is too old`() async throws {
    let tool = try await storeOfTwo(ages: [7_200, 60])
    let run = try await tool.run(["store", "prune", "--store-age", "1h"])
    #expect(run.exit == .status(0))
    #expect(run.text.hasPrefix("removed 1 files (242 bytes), kept 1 files (228 bytes)"))
    #expect(try tool.storedFiles().allSatisfy { $0.hasSuffix(".gif") })
  }

  @Test func `prune removes the least recently used of what is too much`() async throws {
    let tool = try await storeOfTwo(ages: [100, 200])
    let run = try await tool.run(["store", "prune", "--store-max", "300B"])
    #expect(run.exit == .status(0))
    #expect(try tool.storedFiles().map { String($0.suffix(4)) } == [".png"])
  }

  @Test func `prune keeps what is within its bounds`() async throws {
    let tool = try await storeOfTwo(ages: [100, 200])
    #expect(try await tool.run(["store", "prune"]).exit == .status(0))
    #expect(try tool.storedFiles().count == 2)
  }

  @Test(arguments: [false, true])
  func `prune of a folder that is no store ends with 69 and creates nothing`(isThere: Bool) async throws {
    let tool = try AttacheTool()
    let folder = tool.home["typo"]
    if isThere { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false) }
    let run = try await tool.run(["store", "prune", "--store", folder])
    #expect(run.exit == .status(69))
    #expect(run.output == [])
    #expect(run.errors.contains("typo: there is no such store"), "\(run.errors)")
    #expect(FileManager.default.fileExists(atPath: folder) == isThere)
    if isThere { #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == []) }
  }

  @Test func `prune of a store that cannot be ends with 73`() async throws {
    let run = try await AttacheTool().run(["store", "prune", "--store", "/dev/null/store"])
    #expect(run.exit == .status(73))
    #expect(run.output == [])
    #expect(run.errors.contains("/dev/null/store"))
  }

  /// A store with a PNG of 242 bytes and a GIF of 228, last used this many seconds ago.
  private func storeOfTwo(ages: [Double]) async throws -> AttacheTool {
    let tool = try AttacheTool()
    try await withOrigin { origin in
      origin.serve("/a.png", try Sample.medium("picture.png"))
      origin.serve("/b.gif", try Sample.medium("animation.gif"))
      let lines = ["/a.png", "/b.gif"].map { Sample.payload(origin.url($0)) }.joined(separator: "\n")
      _ = try await tool.run(AttacheTool.loopback, input: lines)
    }
    for (suffix, age) in zip([".png", ".gif"], ages) {
      let name = try #require(try tool.storedFiles().first { $0.hasSuffix(suffix) })
      try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSinceNow: -age)], ofItemAtPath: "\(tool.store)/\(name)")
    }
    return tool
  }

  // MARK: attache origin

  @Test func `origin becomes the executable beside, serves a folder, and ends at SIGTERM`() async throws {
    let tool = try AttacheTool()
    let program = try tool.start(["origin", Sample.fixtures + "/media"])
    let url = try #require(await program.lines(1).first)
    let executable = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(program.process)/exe")
    #expect(executable == AttacheTool.folder + "/attache-tools")
    let input = Sample.payload(url + "/picture.png") + "\n" + Sample.payload(url + "/status/404/picture.png")
    let lines = try await tool.run(AttacheTool.loopback, input: input).text.split(separator: "\n")
    #expect(lines.map { Enriched.attachments($0).count } == [1, 0])
    program.send(SIGTERM)
    #expect(await program.exit() == .status(0))
  }

  @Test func `origin's help is the companion's`() async throws {
    let run = try await AttacheTool().run(["origin", "--help"])
    #expect(run.exit == .status(0))
    #expect(run.text.contains("--port"))
    #expect(run.text.contains("/delay/250ms"))
  }

  @Test func `origin without its executable beside ends with 69 and says where it belongs`() async throws {
    let tool = try AttacheTool()
    let lonely = tool.home["attache"]
    // In a separate process: a program started meanwhile would inherit the copy open for writing,
    // and the copy could not be run.
    let copy = try await Program(Launch(path: "/bin/cp", arguments: [AttacheTool.folder + "/attache", lonely])).finished()
    #expect(copy.exit == .status(0))
    let run = try await Program(Launch(path: lonely, arguments: ["origin", "."], environment: tool.environment)).finished()
    #expect(run.exit == .status(69))
    #expect(run.output == [])
    #expect(run.errors.contains("\(lonely)-tools"))
    #expect(run.errors.contains("scripts/install installs attache-tools"))
  }
}
