import AttacheTesting
import Foundation
import Glibc
import Testing

/// Fetcher processes: what happens to the lines when they end.
@Suite(.timeLimit(.minutes(1)))
struct FetcherProcessTests {
  @Test(arguments: [SIGKILL, SIGSEGV, SIGSTOP])
  func `a fetcher that ends is replaced, and no line tells of it`(signal: Int32) async throws {
    try await withOrigin { origin in
      for number in 0..<12 { origin.serve("/\(number)", try Sample.medium("picture.png"), faults: [.stallBeforeHeaders]) }
      let program = try AttacheTool().start(AttacheTool.loopback + ["--deadline", "60s"])
      program.input.write((0..<12).map { Sample.payload(origin.url("/\($0)")) + "\n" }.joined())
      for number in 0..<12 { await origin.waitForStalls(count: 1, path: "/\(number)") }
      for fetcher in program.fetchers { kill(fetcher, signal) }
      for number in 0..<12 { await origin.waitForRequests(count: 2, path: "/\(number)") }
      for number in 0..<12 { origin.release("/\(number)") }
      program.input.close()
      let run = await program.finished()
      #expect(run.exit == .status(0))
      #expect(run.text.split(separator: "\n").allSatisfy { Enriched.attachments($0).count == 1 })
      #expect(run.errors.split(separator: "\n").filter { $0.contains("another one replaces it") }.count == 1)
    }
  }

  @Test func `a notice that no thread can report at the moment is reported later`() async throws {
    try await withOrigin { origin in
      origin.serve("/a", try Sample.medium("picture.png"), faults: [.stallBeforeHeaders])
      let program = try AttacheTool().start(AttacheTool.loopback + ["--deadline", "60s"])
      program.input.write(Sample.payload(origin.url("/a")) + "\n")
      await origin.waitForStalls(count: 1, path: "/a")
      // A thread starts with 40 MiB to spare.
      try program.limit("--as=\(program.addressSpace + 30 << 20):")
      kill(try #require(program.fetchers.first), SIGKILL)
      await origin.waitForRequests(count: 2, path: "/a")
      origin.release("/a")
      program.input.close()
      let run = await program.finished()
      #expect(run.exit == .status(0))
      #expect(run.errors.split(separator: "\n").filter { $0.contains("another one replaces it") }.count == 1, "\(run.errors)")
    }
  }

  @Test func `a URL that ends each of its fetchers fails alone`() async throws {
    try await withOrigin { origin in
      origin.serve("/bad", [], faults: [.stallBeforeHeaders])
      for number in 0..<50 { origin.serve("/\(number)", try Sample.medium("picture.png")) }
      let tool = try AttacheTool()
      let program = try tool.start(AttacheTool.loopback + ["--deadline", "60s", "--fetchers", "1", "--report", tool.report, "--unordered"])
      program.input.write(
        ([Sample.payload(origin.url("/bad"))] + (0..<50).map { Sample.payload(origin.url("/\($0)")) }).joined(separator: "\n") + "\n")
      program.input.close()
      #expect(await program.lines(50).count == 50)
      // As many ends as a request in flight may see.
      for end in 1...64 {
        await origin.waitForRequests(count: end, path: "/bad")
        // The newest process, since a killed one may still be listed.
        kill(try #require(program.fetchers.last), SIGKILL)
      }
      let run = await program.finished()
      #expect(run.exit == .status(0))
      let records = try ReportLine.read(tool.report)
      #expect(records.filter { $0.outcome == "attached" }.count == 50)
      #expect(records.filter { $0.reason == "fetch.crashed" }.map(\.line) == [1])
    }
  }

  @Test func `a worker whose fetchers end loses no payload and uses up no try`() async throws {
    try await withOrigin { origin in
      for number in 0..<12 { origin.serve("/\(number)", try Sample.medium("picture.png"), faults: [.stallBeforeHeaders]) }
      let queue = try QueueTool()
      _ = try await queue.run("enqueue", input: (0..<12).map { Sample.payload(origin.url("/\($0)")) + "\n" }.joined())
      let program = try queue.start("work", ["--once", "--attempts", "1", "--deadline", "60s"] + QueueTool.loopback)
      for number in 0..<12 { await origin.waitForStalls(count: 1, path: "/\(number)") }
      for fetcher in program.fetchers { kill(fetcher, SIGSEGV) }
      for number in 0..<12 { await origin.waitForRequests(count: 2, path: "/\(number)") }
      for number in 0..<12 { origin.release("/\(number)") }
      #expect(await program.finished().exit == .status(0))
      let results = try await queue.run("results").text.split(separator: "\n")
      #expect(results.count == 12)
      #expect(results.allSatisfy { Enriched.attachments($0).count == 1 })
    }
  }

  @Test func `a payload that ends each of its fetchers is given up alone, among a hundred in a queue`() async throws {
    try await withOrigin { origin in
      origin.serve("/bad", [], faults: [.stallBeforeHeaders])
      for number in 0..<100 { origin.serve("/\(number)", try Sample.medium("picture.png")) }
      let queue = try QueueTool()
      // Results come in the order of the queue. The bad payload is last, so that the test can wait
      // for the others.
      let urls = (0..<100).map { "/\($0)" } + ["/bad"]
      _ = try await queue.run("enqueue", input: urls.map { Sample.payload(origin.url($0)) + "\n" }.joined())
      let program = try queue.start("work", ["--once", "--deadline", "60s", "--fetchers", "1"] + QueueTool.loopback)
      // A picture in flight at this many ends is given up too.
      let reader = try queue.start("results", ["--follow"])
      #expect(await reader.lines(100).count == 100)
      reader.send(SIGTERM)
      _ = await reader.finished()
      for end in 1...64 {
        await origin.waitForRequests(count: end, path: "/bad")
        kill(try #require(program.fetchers.last), end % 2 == 0 ? SIGKILL : SIGSEGV)
      }
      #expect(await program.finished().exit == .status(0))
      let results = try await queue.run("results").text.split(separator: "\n")
      #expect(results.count == 101)
      #expect(results.filter { Enriched.attachments($0).count == 1 }.count == 100)
    }
  }

  /// What the filter and a worker say when no fetcher can be started any more.
  private static let broken =
    "the process that starts fetchers has ended (`dmesg` says if memory was short), and no other one replaces it: no more media are fetched "
    + "until this command is run again"

  @Test func `without the process that starts fetchers every line leaves as it came, with status 70`() async throws {
    try await withOrigin { origin in
      origin.serve("/a", [], faults: [.stallBeforeHeaders])
      let program = try AttacheTool().start(AttacheTool.loopback + ["--deadline", "60s"])
      let line = Sample.payload(origin.url("/a")) + "\n"
      program.input.write(line)
      await origin.waitForStalls(count: 1, path: "/a")
      kill(try #require(program.processes(named: "fetchers").first), SIGKILL)
      #expect(await program.lines(1) == [String(line.dropLast())])
      program.input.write(line)
      program.input.close()
      let run = await program.finished()
      #expect(run.exit == .status(70))
      #expect(run.text == line + line)
      // The explanation of the line and the notice are the same sentence.
      let sentence = Self.broken
      #expect(run.errors.split(separator: "\n").filter { $0.hasSuffix(sentence) }.count == 2, "\(run.errors)")
    }
  }

  @Test(arguments: [false, true])
  func `a worker whose fetchers' parent is killed goes on with another one`(killsFetchers: Bool) async throws {
    try await withOrigin { origin in
      for number in 0..<12 { origin.serve("/\(number)", try Sample.medium("picture.png"), faults: [.stallBeforeHeaders]) }
      let queue = try QueueTool()
      _ = try await queue.run("enqueue", input: (0..<12).map { Sample.payload(origin.url("/\($0)")) + "\n" }.joined())
      let program = try queue.start("work", ["--once", "--attempts", "1", "--deadline", "60s"] + QueueTool.loopback)
      for number in 0..<12 { await origin.waitForStalls(count: 1, path: "/\(number)") }
      for end in 1...5 {
        let fetchers = program.fetchers
        kill(try #require(program.processes(named: "fetchers").last), SIGKILL)
        if killsFetchers { for fetcher in fetchers { kill(fetcher, SIGKILL) } }
        for number in 0..<12 { await origin.waitForRequests(count: end + 1, path: "/\(number)") }
      }
      for number in 0..<12 { origin.release("/\(number)") }
      let run = await program.finished()
      #expect(run.exit == .status(0))
      #expect(
        run.errors.split(separator: "\n").filter { $0.contains("another one replaces it and its fetchers") }.count == 1, "\(run.errors)")
      #expect(!run.errors.contains("paused"), "\(run.errors)")
      let results = try await queue.run("results").text.split(separator: "\n")
      #expect(results.count == 12)
      #expect(results.allSatisfy { Enriched.attachments($0).count == 1 })
    }
  }

  @Test func `a worker that can start no fetcher any more gives back its payloads, and does not say that it tries again`() async throws {
    try await withOrigin { origin in
      origin.serve("/a", try Sample.medium("picture.png"), faults: [.stallBeforeHeaders])
      let queue = try QueueTool()
      _ = try await queue.run("enqueue", input: Sample.payload(origin.url("/a")) + "\n")
      let flags = ["--once", "--attempts", "1", "--deadline", "60s"] + QueueTool.loopback
      let program = try queue.start("work", flags)
      await origin.waitForStalls(count: 1, path: "/a")
      kill(try #require(program.processes(named: "standby").first), SIGKILL)
      let run = await program.finished()
      #expect(run.exit == .status(70))
      #expect(run.errors.contains(Self.broken + "; payloads in progress are given back to the queue"), "\(run.errors)")
      #expect(!run.errors.contains("tries again"), "\(run.errors)")
      origin.release("/a")
      #expect(try await queue.run("work", flags).exit == .status(0))
      let results = try await queue.run("results").text.split(separator: "\n")
      #expect(results.count == 1 && results.allSatisfy { Enriched.attachments($0).count == 1 })
    }
  }

  @Test(arguments: [false, true]) func `no process outlives the filter`(isKilled: Bool) async throws {
    try await withOrigin { origin in
      origin.serve("/a", try Sample.medium("picture.png"), faults: [.stallBeforeHeaders])
      let program = try AttacheTool().start(AttacheTool.loopback + ["--deadline", "60s"])
      program.input.write(Sample.payload(origin.url("/a")) + "\n")
      await origin.waitForStalls(count: 1, path: "/a")
      let processes = program.descendants
      #expect(processes.count >= 2)
      if isKilled {
        program.send(SIGKILL)
      } else {
        origin.release("/a")
        program.input.close()
      }
      #expect(await program.exit() == (isKilled ? .signal(SIGKILL) : .status(0)))
      for process in processes { await Program.isGone(process) }
    }
  }

  @Test func `a fetcher is confined`() async throws {
    try await withOrigin { origin in
      origin.serve("/a", try Sample.medium("picture.png"), faults: [.stallBeforeHeaders])
      let program = try AttacheTool().start(AttacheTool.loopback + ["--jobs", "10"])
      program.input.write(Sample.payload(origin.url("/a")) + "\n")
      await origin.waitForStalls(count: 1, path: "/a")
      for fetcher in program.fetchers {
        let status = try String(contentsOfFile: "/proc/\(fetcher)/status", encoding: .utf8)
        #expect(status.contains("NoNewPrivs:\t1"))
        #expect(status.contains("Seccomp:\t2"))
        let limits = try String(contentsOfFile: "/proc/\(fetcher)/limits", encoding: .utf8)
        #expect(limits.contains(#/Max core file size +0 +0 /#))
        #expect(limits.contains(#/Max open files +\d{3} +\d{3} /#))
        #expect(!limits.contains(#/Max data size +unlimited/#))
      }
      origin.release("/a")
      program.input.close()
      let run = await program.finished()
      #expect(run.exit == .status(0))
      // attache would report missing confinement.
      #expect(!run.errors.contains("run without"))
    }
  }

  @Test func `lines that pass need no fetcher`() async throws {
    let program = try AttacheTool().start()
    program.input.write(Sample.plain + "\n")
    _ = await program.lines(1)
    #expect(program.fetchers.isEmpty)
    program.input.close()
    #expect(await program.finished().exit == .status(0))
  }
}
