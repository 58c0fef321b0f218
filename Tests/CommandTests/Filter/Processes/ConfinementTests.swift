import AttacheTesting
import Foundation
import Glibc
import Testing

/// What the processes that read strangers' bytes may do on the machine.
@Suite(.timeLimit(.minutes(1)))
struct ConfinementTests {
  @Test func `no process that reads strangers' bytes has a capability, and a fetcher starts none`() async throws {
    try await withOrigin { origin in
      origin.serve("/stalled", try Sample.medium("picture.png"), faults: [.stallBeforeHeaders])
      origin.serve("/unknown", Array("no type that anybody knows".utf8))
      origin.serve("/photo", try Sample.medium("photo.webp"))
      let program = try AttacheTool().start(AttacheTool.loopback + ["--convert", "--unordered", "--deadline", "30s"])
      for path in ["/unknown", "/photo", "/stalled"] { program.input.write(Sample.payload(origin.url(path)) + "\n") }
      await origin.waitForStalls(count: 1, path: "/stalled")
      #expect(await program.lines(2).count == 2)
      for name in ["fetcher", "detector", "converter"] {
        let process = try #require(program.processes(named: name).first, "\(name)")
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        for set in ["CapInh", "CapPrm", "CapEff", "CapAmb"] { #expect(status.contains("\(set):\t0000000000000000"), "\(name): \(status)") }
        // Only root may change the bounding set.
        if geteuid() == 0 { #expect(status.contains("CapBnd:\t0000000000000000"), "\(name): \(status)") }
        #expect(status.contains("Seccomp:\t2") && status.contains("NoNewPrivs:\t1"), "\(name): \(status)")
        let children = try String(contentsOfFile: "/proc/\(process)/task/\(process)/children", encoding: .utf8)
        #expect(children.isEmpty, "\(name)")
      }
      origin.release("/stalled")
      program.input.close()
      #expect(await program.finished().exit == .status(0))
    }
  }

  @Test func `a detector and a converter end with their fetcher`() async throws {
    try await withOrigin { origin in
      origin.serve("/unknown", Array("no type that anybody knows".utf8))
      origin.serve("/photo", try Sample.medium("photo.webp"))
      let program = try AttacheTool().start(AttacheTool.loopback + ["--convert", "--fetchers", "1", "--deadline", "30s"])
      for path in ["/unknown", "/photo"] { program.input.write(Sample.payload(origin.url(path)) + "\n") }
      #expect(await program.lines(2).count == 2)
      let helpers = ["detector", "converter"].flatMap { program.processes(named: $0) }
      #expect(helpers.count == 2)
      kill(try #require(program.fetchers.first), SIGKILL)
      for helper in helpers { await Program.isGone(helper) }
      program.input.close()
      #expect(await program.finished().exit == .status(0))
    }
  }

  @Test(.enabled(if: geteuid() == 0, "only root opens other users' files"))
  func `root learns before a line is read that it reaches another user's store by its capabilities alone`() async throws {
    let tool = try AttacheTool()
    let store = tool.home.path + "/theirs"
    #expect(unsafe mkdir(store, 0o700) == 0 && chown(store, 1, 1) == 0)
    let run = try await tool.run(["--store", store], input: Sample.plain + "\n")
    #expect(run.exit == .status(73))
    #expect(run.text.isEmpty)
    #expect(run.errors.contains("\(store) is open to this process only by its capabilities"), "\(run.errors)")
    #expect(run.errors.contains("start attache as its owner (user 1), or choose a --store that root owns"), "\(run.errors)")
    // The commands that fetch in their own process, or not at all, would leave files of root's there.
    for words in [["store", "prune"], ["record", tool.home["it.yaml"]]] {
      let other = try await tool.run(words + ["--store", store], input: Sample.plain + "\n")
      #expect(other.exit == .status(73) && other.text.isEmpty, "\(words): \(other.errors)")
      #expect(other.errors.contains("\(store) is open to this process only by its capabilities"), "\(words): \(other.errors)")
    }
    // Its owner can still use it.
    #expect(try Self.entries(tool.home.path, "theirs") == [Entry("theirs", mode: 0o700, user: 1)])
    // A folder inside a store of root's own counts as well.
    let mixed = tool.home.path + "/mixed"
    #expect(unsafe mkdir(mixed, 0o700) == 0 && mkdir(mixed + "/3f", 0o700) == 0 && chown(mixed + "/3f", 1, 1) == 0)
    let other = try await tool.run(["--store", mixed], input: Sample.plain + "\n")
    #expect(other.exit == .status(73))
    #expect(other.errors.contains("\(mixed)/3f is open"), "\(other.errors)")
    // So does a folder above it.
    let below = try await tool.run(["--store", store + "/below"], input: Sample.plain + "\n")
    #expect(below.exit == .status(73))
    #expect(below.errors.contains("\(store) is open") && below.errors.contains("its owner (user 1)"), "\(below.errors)")
    // Even one that everybody may enter.
    #expect(unsafe chmod(store, 0o755) == 0)
    let deep = try await tool.run(["--store", store + "/below/that"], input: Sample.plain + "\n")
    #expect(deep.exit == .status(73))
    #expect(deep.errors.contains("\(store)/ is open") && deep.errors.contains("its owner (user 1)"), "\(deep.errors)")
    #expect(try Self.entries(tool.home.path, "theirs") == [Entry("theirs", mode: 0o755, user: 1)])
    #expect(try Self.entries(tool.home.path, "mixed") == [Entry("mixed", mode: 0o700), Entry("mixed/3f", mode: 0o700, user: 1)])
    // Root's own paths need no capability.
    let own = try await tool.run(["--store", tool.home.path + "/own/deep"], input: Sample.plain + "\n")
    #expect(own.exit == .status(0), "\(own.errors)")
  }

  private struct Entry: Equatable {
    var path: String
    var mode: Int
    var user: Int

    init(_ path: String, mode: Int, user: Int = 0) {
      (self.path, self.mode, self.user) = (path, mode, user)
    }
  }

  /// A folder and all that is below it, sorted by path.
  private static func entries(_ parent: String, _ name: String) throws -> [Entry] {
    let below = try FileManager.default.subpathsOfDirectory(atPath: parent + "/" + name).sorted().map { name + "/" + $0 }
    return try ([name] + below).map { path in
      let found = try FileManager.default.attributesOfItem(atPath: parent + "/" + path)
      return Entry(path, mode: try #require(found[.posixPermissions] as? Int), user: try #require(found[.ownerAccountID] as? Int))
    }
  }
}
