@testable import AttacheTesting
import Glibc
import Testing

/// An origin that serves a folder: its files with the faults of the path, and nothing outside it.
struct OriginFolderTests {
  /// `base/served/{photo.jpg,sub/a b.png,.hidden,link,pipe}` and `base/secret`.
  private func withFolder(_ body: (FaultOrigin) async throws -> Void) async throws {
    var template = Array("/tmp/attache-origin-test-XXXXXX".utf8CString)
    let made = unsafe mkdtemp(&template) != nil
    try #require(made)
    let base = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let served = base + "/served"
    for folder in [served, served + "/sub"] { unsafe mkdir(folder, 0o700) }
    let files = ["/served/photo.jpg", "/served/sub/a b.png", "/served/.hidden", "/secret"].map { base + $0 }
    for file in files { try write(photo, to: file) }
    unsafe symlink("../secret", served + "/link")
    unsafe mkfifo(served + "/pipe", 0o600)
    defer {
      for file in files + [served + "/link", served + "/pipe"] { unsafe unlink(file) }
      for folder in [served + "/sub", served, base] { unsafe rmdir(folder) }
    }
    try await withOrigin(folder: served, body)
  }

  private func write(_ bytes: [UInt8], to file: String) throws {
    let descriptor = unsafe open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(descriptor) }
    let written = unsafe Glibc.write(descriptor, bytes, bytes.count)
    try #require(written == bytes.count)
  }

  private func ask(_ origin: FaultOrigin, _ path: String) throws -> WireResponse {
    let client = try RawClient(origin)
    client.get(path)
    return client.response()
  }

  @Test func `files are served as bytes of no type`() async throws {
    try await withFolder { origin in
      let response = try ask(origin, "/photo.jpg")
      #expect(response.field("Content-Type") == "application/octet-stream")
      #expect(response.body == photo)
      let other = try ask(origin, "/sub/a%20b.png?version=1")
      #expect(other.body == photo)
    }
  }

  @Test func `the path's faults apply`() async throws {
    try await withFolder { origin in
      let response = try ask(origin, "/type/text%2Fhtml/status/503,2/photo.jpg")
      #expect(response.status == 503 && response.field("Content-Type") == "text/html" && response.field("Retry-After") == "2")
      #expect(response.body == photo)
      let statuses = try (1...2).map { _ in try ask(origin, "/times/1/status/503/photo.jpg").status }
      #expect(statuses == [503, 200])
    }
  }

  @Test func `the root lists the fault paths`() async throws {
    try await withFolder { origin in
      let response = try ask(origin, "/")
      #expect(String(decoding: response.body, as: UTF8.self) == FaultPath.help)
    }
  }

  @Test func `a mistake in a fault is told`() async throws {
    try await withFolder { origin in
      let response = try ask(origin, "/delay/soon/photo.jpg")
      #expect(response.status == 400)
      #expect(String(decoding: response.body, as: UTF8.self) == "/delay is written as in /delay/250ms/photo.jpg\n")
    }
  }

  @Test(arguments: [
    "/../secret", "/sub/../../secret", "/%2e%2e/secret", "/..%2fsecret", "/sub%2f..%2f..%2fsecret", "/gzip/../../secret", "/link",
    "/.hidden",
    "/sub", "/sub/", "/pipe", "/photo.jpg/x", "/photo.jpg%00", "/%zz", "/missing",
  ])
  func `nothing else is served`(_ path: String) async throws {
    try await withFolder { origin in
      let response = try ask(origin, path)
      #expect(response.status == 404)
    }
  }

  @Test func `a folder that is none is an error`() async throws {
    await #expect(throws: OriginError.folder("/etc/passwd", errno: ENOTDIR)) { try await FaultOrigin.start(folder: "/etc/passwd") }
  }
}
