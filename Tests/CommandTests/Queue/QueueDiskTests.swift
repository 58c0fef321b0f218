import AttacheTesting
import Foundation
import Testing

/// Queues, stores and outputs on a disk that is full: whoever meets that stops and says so, and goes on where it was once there is room.
@Suite(.timeLimit(.minutes(1)), .enabled(if: MemoryDisk.isPermitted, "mounting takes root's capability"))
struct QueueDiskTests {
  private let tool: AttacheTool
  private let disk: MemoryDisk

  init() throws {
    tool = try AttacheTool()
    disk = try MemoryDisk(at: tool.home["disk"], size: "4m")
  }

  private func location(_ kind: String) -> String { "\(kind):\(disk.path)/queue" }

  /// Runs a test, and unmounts the disk.
  private func withDisk(_ body: () async throws -> Void) async throws {
    defer { disk.unmount() }
    try await body()
  }

  private func lines(_ count: Int, of size: Int) -> String {
    (1...count).map { #"{"aps":{"alert":"Hello"},"n":\#($0),"x":"\#(String(repeating: "x", count: size))"}"# + "\n" }.joined()
  }

  @Test(arguments: ["sqlite", "dir"]) func `what does not fit into a queue is said, and is taken when there is room`(kind: String)
    async throws
  {
    try await withDisk {
      let input = lines(3000, of: 2000)
      let words = ["enqueue", "--queue", location(kind), "--dedupe", "bytes"]
      let full = try await tool.run(words, input: input)
      #expect(full.exit == .status(74))
      #expect(full.errors.contains("make room and start again: nothing is lost"), "\(full.errors)")

      try disk.resize("64m")
      #expect(try await tool.run(words, input: input).exit == .status(0))
      #expect(try await tool.run(["work", "--queue", location(kind), "--once"]).exit == .status(0))
      #expect(try await tool.run(["results", "--queue", location(kind)]).text == input)
    }
  }

  @Test(arguments: ["sqlite", "dir"]) func `a worker stops when its queue is full, and goes on when there is room`(kind: String)
    async throws
  {
    try await withDisk {
      try await withOrigin { origin in
        let picture = try Sample.medium("picture.png")
        origin.serve("/stalls.png", picture, faults: [.stall(afterBytes: 8)])
        origin.serve("/picture.png", picture)
        let media = Sample.payload(origin.url("/stalls.png")) + "\n" + Sample.payload(origin.url("/picture.png")) + "\n"
        let input = media + lines(300, of: 500)
        #expect(try await tool.run(["enqueue", "--queue", location(kind)], input: input).exit == .status(0))
        let words = ["work", "--queue", location(kind), "--once", "--jobs", "8"] + AttacheTool.loopback
        let worker = try tool.start(words)
        await origin.waitForStalls(count: 1, path: "/stalls.png")
        disk.fill()
        // What is settled from here on does not fit, sooner or later: there may be room in what the queue has already.
        origin.release("/stalls.png")
        let full = await worker.finished()
        let status = try await tool.run(["queue", "--queue", location(kind), "--json"])
        if full.exit != .status(0) || !status.text.contains("\"done\":302") {
          #expect(full.exit == .status(74), "\(full.errors)")
          #expect(full.errors.contains("make room and start again: nothing is lost"), "\(full.errors)")
        }

        // Result files need room too.
        disk.empty()
        try disk.resize("64m")
        #expect(try await tool.run(words).exit == .status(0))
        let results = try await tool.run(["results", "--queue", location(kind)])
        let came = results.text.split(separator: "\n")
        #expect(came.count == 302)
        #expect(came.prefix(2).allSatisfy { Enriched.attachments($0).count == 1 })
        #expect(came.dropFirst(2).elementsEqual(input.split(separator: "\n").dropFirst(2)))
      }
    }
  }

  @Test(arguments: ["sqlite", "dir"]) func `a queue that is full from the start is not worked, and loses nothing`(kind: String) async throws
  {
    try await withDisk {
      let input = lines(200, of: 500)
      #expect(try await tool.run(["enqueue", "--queue", location(kind)], input: input).exit == .status(0))
      disk.fill()
      let full = try await tool.run(["work", "--queue", location(kind), "--once"])
      #expect(full.exit == .status(74), "\(full.errors)")
      #expect(full.errors.contains("make room and start again: nothing is lost"), "\(full.errors)")
      disk.empty()
      #expect(try await tool.run(["work", "--queue", location(kind), "--once"]).exit == .status(0))
      #expect(try await tool.run(["results", "--queue", location(kind)]).text == input)
    }
  }

  @Test func `media that find no room in the store leave the original, and another try gives them`() async throws {
    try await withDisk {
      try await withOrigin { origin in
        let film = try Sample.medium("clip.mp4")
        origin.serve("/film.mp4", film, faults: [.stall(afterBytes: 8)])
        let queue = "sqlite:" + tool.home["queue"]
        let line = Sample.payload(origin.url("/film.mp4")) + "\n"
        #expect(try await tool.run(["enqueue", "--queue", queue], input: line).exit == .status(0))
        let words = ["work", "--queue", queue, "--once", "--store", disk.path + "/store", "--attempts", "1"] + AttacheTool.loopback
        let worker = try tool.start(words)
        await origin.waitForStalls(count: 1, path: "/film.mp4")
        disk.fill()
        origin.release("/film.mp4")
        #expect(await worker.finished().exit == .status(0))
        #expect(try await tool.run(["results", "--queue", queue]).text == line)
        let record = try await tool.run(["results", "--queue", queue, "--report"])
        #expect(record.text.contains("\"store.full\""), "\(record.text)")

        disk.empty()
        #expect(try await tool.run(["retry", "--queue", queue, "--reason", "store.full"]).exit == .status(0))
        #expect(try await tool.run(words).exit == .status(0))
        let results = try await tool.run(["results", "--queue", queue])
        #expect(Enriched.attachments(results.text).count == 1)
      }
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
