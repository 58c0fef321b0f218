import AttacheTesting
import Foundation
import Glibc
import Testing

/// Queues, stores and outputs on a full disk: a worker pauses and reports it, other commands stop,
/// and all continue when there is space.
@Suite(.timeLimit(.minutes(1)), .enabled(if: MemoryDisk.isPermitted, "mounting needs root's capability"))
struct QueueDiskTests {
  private let tool: AttacheTool
  private let disk: MemoryDisk

  init() throws {
    tool = try AttacheTool()
    disk = try MemoryDisk(at: tool.home["disk"], size: "4m")
  }

  private var location: String { "sqlite:\(disk.path)/queue" }

  /// Runs a test, and unmounts the disk.
  private func withDisk(_ body: () async throws -> Void) async throws {
    defer { disk.unmount() }
    try await body()
  }

  private func lines(_ count: Int, of size: Int) -> String {
    (1...count).map { #"{"aps":{"alert":"Hello"},"n":\#($0),"x":"\#(String(repeating: "x", count: size))"}"# + "\n" }.joined()
  }

  @Test func `what does not fit into a queue is said, and is taken when there is room`() async throws {
    try await withDisk {
      let input = lines(3000, of: 2000)
      let words = ["enqueue", "--queue", location, "--dedupe", "bytes"]
      let full = try await tool.run(words, input: input)
      #expect(full.exit == .status(74))
      #expect(full.errors.contains("free space and start again: nothing is lost"), "\(full.errors)")

      try disk.resize("64m")
      #expect(try await tool.run(words, input: input).exit == .status(0))
      #expect(try await tool.run(["work", "--queue", location, "--once"]).exit == .status(0))
      #expect(try await tool.run(["results", "--queue", location]).text == input)
    }
  }

  @Test func `a worker pauses while its queue is full, and goes on by itself when there is room`() async throws {
    try await withDisk {
      try await withOrigin { origin in
        let picture = try Sample.medium("picture.png")
        origin.serve("/stalls.png", picture, faults: [.stall(afterBytes: 8)])
        origin.serve("/picture.png", picture)
        let media = Sample.payload(origin.url("/stalls.png")) + "\n" + Sample.payload(origin.url("/picture.png")) + "\n"
        let input = media + lines(300, of: 500)
        #expect(try await tool.run(["enqueue", "--queue", location], input: input).exit == .status(0))
        let worker = try tool.start(["work", "--queue", location, "--once", "--jobs", "8"] + AttacheTool.loopback)
        await origin.waitForStalls(count: 1, path: "/stalls.png")
        disk.fill()
        // Results from here on do not fit, unless the queue's files have free space inside; then
        // the worker ends.
        origin.release("/stalls.png")
        _ = await worker.errors(holding: "paused: ")
        // Result files need space too.
        disk.empty()
        try disk.resize("64m")
        let run = await worker.finished()
        #expect(run.exit == .status(0), "\(run.errors)")
        let results = try await tool.run(["results", "--queue", location])
        let came = results.text.split(separator: "\n")
        #expect(came.count == 302)
        #expect(came.prefix(2).allSatisfy { Enriched.attachments($0).count == 1 })
        #expect(came.dropFirst(2).elementsEqual(input.split(separator: "\n").dropFirst(2)))
      }
    }
  }

  @Test func `a queue that is full from the start is not opened, and loses nothing`() async throws {
    try await withDisk {
      let (queue, input) = (location, lines(200, of: 500))
      #expect(try await tool.run(["enqueue", "--queue", queue], input: input).exit == .status(0))
      disk.fill()
      let full = try await tool.run(["work", "--queue", queue, "--once"])
      #expect(full.exit == .status(74), "\(full.errors)")
      #expect(full.errors.contains("free space and start again: nothing is lost"), "\(full.errors)")
      disk.empty()
      #expect(try await tool.run(["work", "--queue", queue, "--once"]).exit == .status(0))
      #expect(try await tool.run(["results", "--queue", queue]).text == input)
    }
  }

  @Test func `a full store does not burn the queue: its worker is not ready, and attaches all once there is room`() async throws {
    try await withDisk {
      try await withOrigin { origin in
        let film = try Sample.medium("clip.mp4")
        origin.serve("/film.mp4", film, faults: [.stall(afterBytes: 8)])
        let queue = "sqlite:" + tool.home["queue"]
        let input = (1...20).map { Sample.payload(origin.url("/film.mp4?\($0)")) + "\n" }.joined()
        #expect(try await tool.run(["enqueue", "--queue", queue], input: input).exit == .status(0))
        let words = ["work", "--queue", queue, "--store", disk.path + "/store", "--attempts", "1", "--jobs", "1", "--metrics", "0"]
        let worker = try tool.start(words + AttacheTool.loopback)
        let log = await worker.errors(holding: "/metrics\n")
        let port = try #require((log.firstMatch(of: /127\.0\.0\.1:(\d+)\/metrics/)?.1).flatMap { UInt16($0) })
        await origin.waitForStalls(count: 1, path: "/film.mp4")
        disk.fill()
        origin.release("/film.mp4")
        let errors = await worker.errors(holding: "paused: store.full: cannot ")
        #expect(errors.contains("No space left on device (errno 28)"), "\(errors)")
        let ready = try await LoopbackClient.ask(port, "/readyz")
        #expect(ready.status == 503)
        #expect(ready.body.hasPrefix("paused: store.full: cannot "), "\(ready.body)")
        #expect(try await LoopbackClient.ask(port, "/livez").status == 200)
        #expect(try await LoopbackClient.ask(port, "/metrics").body.contains("\nattache_worker_paused 1\n"))
        #expect(try await tool.run(["results", "--queue", queue]).text == "")

        disk.empty()
        _ = await worker.errors(holding: "the worker goes on")
        #expect(try await LoopbackClient.ask(port, "/readyz").status == 200)
        worker.send(SIGTERM)
        _ = await worker.finished()
        #expect(try await tool.run(words + AttacheTool.loopback + ["--once"]).exit == .status(0))
        let results = try await tool.run(["results", "--queue", queue])
        #expect(results.text.split(separator: "\n").allSatisfy { Enriched.attachments($0).count == 1 })
        #expect(results.text.split(separator: "\n").count == 20)
      }
    }
  }

  @Test func `a worker that is stopped while its store is full ends with 75, and a batch goes on later`() async throws {
    try await withDisk {
      try await withOrigin { origin in
        origin.serve("/film.mp4", try Sample.medium("clip.mp4"), faults: [.stall(afterBytes: 8)])
        let input = tool.home["in.ndjson"]
        try Data((Sample.payload(origin.url("/film.mp4")) + "\n").utf8).write(to: URL(filePath: input))
        let words = ["batch", input, "-o", tool.home["out.ndjson"], "--store", disk.path + "/store"] + AttacheTool.loopback
        let batch = try tool.start(words)
        await origin.waitForStalls(count: 1, path: "/film.mp4")
        disk.fill()
        origin.release("/film.mp4")
        _ = await batch.errors(holding: "paused: store.full: cannot ")
        batch.send(SIGTERM)
        #expect(await batch.finished().exit == .status(75))
        disk.empty()
        #expect(try await tool.run(words).exit == .status(0))
        #expect(Enriched.attachments(try String(contentsOfFile: tool.home["out.ndjson"], encoding: .utf8)).count == 1)
      }
    }
  }

  @Test func `a batch pauses while its queue is full, and goes on by itself when there is room`() async throws {
    try await withDisk {
      let input = tool.home["in.ndjson"]
      try Data(lines(3000, of: 2000).utf8).write(to: URL(filePath: input))
      let batch = try tool.start(["batch", input, "-o", tool.home["out.ndjson"], "--queue", location])
      _ = await batch.errors(holding: "paused: ")
      try disk.resize("64m")
      let run = await batch.finished()
      #expect(run.exit == .status(0), "\(run.errors)")
      #expect(run.errors.contains("the worker goes on"), "\(run.errors)")
      #expect(try Data(contentsOf: URL(filePath: tool.home["out.ndjson"])) == Data(contentsOf: URL(filePath: input)))
    }
  }

  @Test func `a batch that is stopped while its queue is full ends with 75, and goes on later`() async throws {
    try await withDisk {
      let input = tool.home["in.ndjson"]
      try Data(lines(3000, of: 2000).utf8).write(to: URL(filePath: input))
      let words = ["batch", input, "-o", tool.home["out.ndjson"], "--queue", location]
      let batch = try tool.start(words)
      _ = await batch.errors(holding: "paused: ")
      batch.send(SIGTERM)
      let run = await batch.finished()
      #expect(run.exit == .status(75), "\(run.errors)")
      try disk.resize("64m")
      #expect(try await tool.run(words).exit == .status(0))
      #expect(try Data(contentsOf: URL(filePath: tool.home["out.ndjson"])) == Data(contentsOf: URL(filePath: input)))
    }
  }

  @Test func `a batch whose output does not fit stops, and ends it when there is room`() async throws {
    try await withDisk {
      let input = tool.home["in.ndjson"]
      try Data(lines(3000, of: 2000).utf8).write(to: URL(filePath: input))
      let words = ["batch", input, "-o", disk.path + "/out.ndjson", "--queue", "sqlite:" + tool.home["queue"]]
      let full = try await tool.run(words)
      #expect(full.exit == .status(74), "\(full.errors)")
      #expect(full.errors.contains("the output"), "\(full.errors)")
      try disk.resize("64m")
      #expect(try await tool.run(words).exit == .status(0))
      #expect(try Data(contentsOf: URL(filePath: disk.path + "/out.ndjson")) == Data(contentsOf: URL(filePath: input)))
    }
  }
}
