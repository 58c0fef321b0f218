import AttacheTesting
import Testing

@Suite(.timeLimit(.minutes(1)))
struct OriginScriptTests {
  private static let file = Medium(name: "file", bytes: Array("0123456789".utf8))

  /// The response of `/x` with these steps.
  private func play(_ steps: [OriginStep], method: String = "GET") async throws -> (response: WireResponse, ending: RawClient.Ending) {
    var answer: (WireResponse, RawClient.Ending)?
    try await withOrigin { origin in
      origin.serve("/x", script: PathScript(responses: [steps]))
      let client = try RawClient(origin)
      client.get("/x", "Connection: close", method: method)
      answer = client.rest()
    }
    return try #require(answer)
  }

  @Test func `a file is sent with its length`() async throws {
    let (response, ending) = try await play([OriginStep(.header(name: "X-A", value: "1")), OriginStep(.send(Self.file, count: nil))])
    #expect(response.status == 200 && response.body == Self.file.bytes && ending == .closed)
    #expect(response.field("Content-Length") == "10" && response.field("X-A") == "1")
  }

  @Test func `HEAD has the fields and no body`() async throws {
    let (response, _) = try await play([OriginStep(.send(Self.file, count: nil))], method: "HEAD")
    #expect(response.field("Content-Length") == "10" && response.body.isEmpty)
  }

  @Test func `times count from the arrival of the request`() async throws {
    let start = ContinuousClock.now
    let (response, _) = try await play([
      OriginStep(.send(Self.file, count: 3)), OriginStep(.send(Self.file, count: 3), at: .milliseconds(40)),
      OriginStep(.send(Self.file, count: nil), at: .milliseconds(60)),
    ])
    #expect(response.body == Self.file.bytes)
    #expect(start.duration(to: .now) >= .milliseconds(60))
  }

  @Test func `a step is repeated with its pause`() async throws {
    let start = ContinuousClock.now
    let (response, _) = try await play([OriginStep(.text("ab"), repetition: .times(4), every: .milliseconds(10))])
    #expect(response.body == Array("abababab".utf8) && response.field("Content-Length") == "8")
    #expect(start.duration(to: .now) >= .milliseconds(30))
  }

  @Test func `fields one by one make one head`() async throws {
    let (response, _) = try await play([
      OriginStep(.header(name: "X-A", value: "1"), repetition: .times(3), every: .milliseconds(1)), OriginStep(.text("body")),
    ])
    #expect(response.values("X-A") == ["1", "1", "1"] && response.body == Array("body".utf8))
  }

  @Test func `raw bytes stand in the place of HTTP`() async throws {
    try await withOrigin { origin in
      origin.serve("/x", script: PathScript(responses: [[OriginStep(.raw("SSH-2.0"))]]))
      let client = try RawClient(origin)
      client.get("/x")
      #expect(client.read(7) == Array("SSH-2.0".utf8))
    }
  }

  @Test func `a reset and a close end the connection each in its way`() async throws {
    #expect(try await play([OriginStep(.send(Self.file, count: 3)), OriginStep(.close)]).ending == .closed)
    #expect(try await play([OriginStep(.reset)]).ending == .reset)
  }

  @Test func `each request has its steps, and the last ones hold for all that follow`() async throws {
    try await withOrigin { origin in
      origin.serve("/x", script: PathScript(responses: [[OriginStep(.status(503))], [OriginStep(.text("ok"))]]))
      origin.serve("/x?a", script: PathScript(responses: [[OriginStep(.status(410))]]))
      let client = try RawClient(origin)
      var statuses: [Int?] = []
      for path in ["/x", "/x", "/x?b", "/x?a", "/status/500/x"] {
        client.get(path)
        statuses.append(client.response().status)
      }
      #expect(statuses == [503, 200, 200, 410, 404])
    }
  }
}
