import Attache
import AttacheTesting
import Foundation
import Glibc
import Testing

/// `--upload`, with origins that play the bucket's server. `scripts/campaign` uses a real one.
@Suite(.timeLimit(.minutes(1)))
struct UploadFlagTests {
  /// Writes a key, which only its owner may read.
  private func credentials(in tool: AttacheTool, mode: mode_t = 0o600) throws -> String {
    let file = tool.home["credentials"]
    try Data("[default]\naws_access_key_id=A\naws_secret_access_key=B\n".utf8).write(to: URL(filePath: file))
    unsafe chmod(file, mode)
    return file
  }

  private func flags(_ origin: FaultOrigin, _ credentials: String) -> [String] {
    AttacheTool.loopback + ["--upload", "s3://media/push", "--upload-endpoint", origin.url(""), "--upload-credentials", credentials]
  }

  /// Serves a photo, and takes it as the bucket's server.
  ///
  /// - Returns: the path of the object.
  private func serve(_ name: String, _ origin: FaultOrigin) throws -> String {
    let bytes = try Sample.medium(name)
    let hash = SHA256.hash(bytes).hexadecimal()
    let object = "/media/push/\(hash.prefix(2))/\(hash).jpg"
    origin.serve("/\(name)", bytes)
    origin.serve(object, [])
    origin.serve("/media/push/.attache-probe", Array("attache\n".utf8))
    return object
  }

  @Test func `a line names the object, and the object was put with its type, its checksum and a signature`() async throws {
    try await withOrigin { origin in
      let object = try serve("photo.jpg", origin)
      let tool = try AttacheTool()
      let run = try await tool.run(flags(origin, credentials(in: tool)), input: Sample.payload(origin.url("/photo.jpg")) + "\n")
      #expect(run.exit == .status(0))
      #expect(Enriched.attachments(run.text).first?.url == origin.url(object))
      let put = try #require(origin.requests.last { $0.path == object && $0.method == "PUT" })
      #expect(put.field("content-type") == "image/jpeg")
      #expect(put.field("cache-control") == "public, max-age=31536000, immutable")
      #expect(put.field("authorization")?.hasPrefix("AWS4-HMAC-SHA256 Credential=A/") == true)
      #expect(!origin.requests.contains { $0.field("user-agent")?.contains("curl") == true })
    }
  }

  @Test func `a server over TLS is verified with --cacert, and refused without`() async throws {
    try await withOrigin(tls: .selfMade()) { origin in
      let object = try serve("photo.jpg", origin)
      let tool = try AttacheTool()
      let root = try #require(origin.rootCertificatePEMFile)
      let input = Sample.payload(origin.url("/photo.jpg")) + "\n"
      let run = try await tool.run(flags(origin, credentials(in: tool)) + ["--cacert", root], input: input)
      #expect(run.exit == .status(0))
      #expect(Enriched.attachments(run.text).first?.url == origin.url(object))
      let without = try await tool.run(flags(origin, credentials(in: tool)), input: input)
      #expect(without.exit == .status(73))
      #expect(without.errors.contains("certificate"), "\(without.errors)")
    }
  }

  @Test func `a bucket that cannot be written ends with 73 before anything is read, and says what to do`() async throws {
    try await withOrigin { origin in
      let tool = try AttacheTool()
      let run = try await tool.start(flags(origin, credentials(in: tool))).finished()
      #expect(run.exit == .status(73))
      #expect(run.output == [])
      #expect(run.errors.contains("cannot write \(origin.url("/media/push/.attache-probe"))"), "\(run.errors)")
      #expect(run.errors.contains("check --upload"), "\(run.errors)")
    }
  }

  @Test func `a probe that another worker removed is made again`() async throws {
    try await withOrigin { origin in
      let object = try serve("photo.jpg", origin)
      // The first is written, and gone when it is read.
      origin.serve("/media/push/.attache-probe", Array("attache\n".utf8), faults: [.after(1, .times(2, .status(404)))])
      let tool = try AttacheTool()
      let run = try await tool.run(flags(origin, credentials(in: tool)), input: Sample.payload(origin.url("/photo.jpg")) + "\n")
      #expect(run.exit == .status(0), "\(run.errors)")
      #expect(Enriched.attachments(run.text).first?.url == origin.url(object))
      #expect(origin.requests.filter { $0.path.hasSuffix("probe") }.map(\.method) == ["PUT", "GET", "PUT", "GET", "DELETE"])
    }
  }

  @Test func `without a key the flag ends with 64, and says what is missing`() async throws {
    let run = try await AttacheTool().start(["--upload", "s3://media"]).finished()
    #expect(run.exit == .status(64))
    #expect(run.errors.contains("--upload-credentials FILE"), "\(run.errors)")
  }

  @Test func `a server that is not there ends with 73`() async throws {
    let tool = try AttacheTool()
    let words = ["--upload", "s3://media", "--upload-endpoint", "http://127.0.0.1:1", "--upload-credentials", try credentials(in: tool)]
    let run = try await tool.start(words).finished()
    #expect(run.exit == .status(73))
    #expect(run.errors.contains("--upload-endpoint"), "\(run.errors)")
  }

  @Test func `a key that others may read ends with 73, and says what to do`() async throws {
    try await withOrigin { origin in
      let tool = try AttacheTool()
      let run = try await tool.start(flags(origin, credentials(in: tool, mode: 0o644))).finished()
      #expect(run.exit == .status(73))
      #expect(run.errors.contains("chmod 600"), "\(run.errors)")
      #expect(origin.requests.isEmpty)
    }
  }

  @Test(arguments: [SIGKILL, SIGSTOP])
  func `an uploader that is killed or stopped is replaced, and the next payload has its photo`(signal: Int32) async throws {
    try await withOrigin { origin in
      let objects = [try serve("photo.jpg", origin), try serve("photo-progressive.jpg", origin)]
      let tool = try AttacheTool()
      let program = try tool.start(flags(origin, credentials(in: tool)))
      program.input.write(Sample.payload(origin.url("/photo.jpg")) + "\n")
      #expect(await program.lines(1).count == 1)
      let uploader = try #require(program.uploader)
      kill(uploader, signal)
      program.input.write(Sample.payload(origin.url("/photo-progressive.jpg")) + "\n")
      #expect(await program.lines(2).count == 2)
      program.input.close()
      let run = await program.finished()
      #expect(run.exit == .status(0))
      #expect(run.text.split(separator: "\n").map { Enriched.attachments($0).first?.url } == objects.map { origin.url($0) })
      #expect(run.errors.contains("the uploader ended; another one replaces it"), "\(run.errors)")
    }
  }

  @Test func `a worker whose uploader ends with its parent gets another one`() async throws {
    try await withOrigin { origin in
      let objects = [try serve("photo.jpg", origin), try serve("photo-progressive.jpg", origin)]
      let queue = try QueueTool()
      _ = try await queue.run("enqueue", input: Sample.payload(origin.url("/photo.jpg")) + "\n")
      let program = try queue.start("work", flags(origin, credentials(in: queue.tool)))
      let reader = try queue.start("results", ["--follow"])
      #expect(await reader.lines(1).count == 1)
      let uploader = try #require(program.uploader)
      kill(try #require(program.processes(named: "fetchers").first), SIGKILL)
      await Program.isGone(uploader)
      _ = try await queue.run("enqueue", input: Sample.payload(origin.url("/photo-progressive.jpg")) + "\n")
      #expect(await reader.lines(2).map { Enriched.attachments($0).first?.url } == objects.map { origin.url($0) })
      reader.send(SIGTERM)
      program.send(SIGTERM)
      let run = await program.finished()
      #expect(run.exit == .status(0), "\(run.errors)")
      #expect(run.errors.contains("another one replaces it and its fetchers"), "\(run.errors)")
    }
  }

  @Test func `the uploader may not open the store`() async throws {
    try await withOrigin { origin in
      _ = try serve("photo.jpg", origin)
      let tool = try AttacheTool()
      let program = try tool.start(flags(origin, credentials(in: tool)))
      program.input.write(Sample.payload(origin.url("/photo.jpg")) + "\n")
      #expect(await program.lines(1).count == 1)
      let uploader = try #require(program.uploader)
      let status = try String(contentsOfFile: "/proc/\(uploader)/status", encoding: .utf8)
      #expect(status.contains("Seccomp:\t2") && status.contains("NoNewPrivs:\t1"), "\(status)")
      // It closes the file that it has uploaded after it has said so.
      await Program.closesFiles(uploader, below: tool.home.path)
      program.input.close()
      _ = await program.finished()
    }
  }
}

extension Program {
  /// The process that uploads.
  fileprivate var uploader: pid_t? { processes(named: "uploader").first }
}
