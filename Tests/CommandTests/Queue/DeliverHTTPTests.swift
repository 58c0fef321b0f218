import Foundation
import Glibc
import Testing

/// `attache deliver --http`, by the built tool, to a server in Python.
@Suite(.timeLimit(.minutes(1)))
struct DeliverHTTPTests {
  /// Answers each POST with the statuses that its table has for the number in the body, in turn,
  /// with a header field; status -1 never answers, and without the token that the table may name it is 401. Each request is written to a file, one JSON object
  /// per line.
  private static let server = """
    import http.server, json, os, socketserver, sys, threading
    table = json.loads(sys.argv[1]); log = open(sys.argv[2], "a"); lock = threading.Lock(); seen = {}
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            with lock:
                number = str(json.loads(body).get("n")) if body else ""
                seen[number] = seen.get(number, 0) + 1
                answers = table.get(number, [[200, {}]])
                status, fields = answers[min(seen[number], len(answers)) - 1]
                if "token" in table and self.headers["Authorization"] != "Bearer " + table["token"]: status, fields = 401, {}
                log.write(json.dumps({"body": body, "path": self.path, "status": status, "fields": {k.lower(): v for k, v in self.headers.items()}}) + "\\n")
                log.flush()
            if status == -1: threading.Event().wait()
            if status == 0:
                os.close(self.connection.detach()); self.close_connection = True; return
            self.send_response(status)
            for name, value in fields.items(): self.send_header(name, value)
            text = fields.get("X-Body", "because" if status >= 400 else "").encode()
            self.send_header("Content-Length", str(len(text))); self.end_headers(); self.wfile.write(text)
        def log_message(self, *rest): pass
        def handle(self):
            try: super().handle()
            except (OSError, ValueError): pass
        def finish(self):
            try: super().finish()
            except (OSError, ValueError): pass
    class Server(socketserver.ThreadingMixIn, http.server.HTTPServer): daemon_threads = True
    server = Server(("127.0.0.1", int(sys.argv[3])), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()
    """

  private struct Request: Decodable {
    var body, path: String
    var status: Int
    var fields: [String: String]
  }

  /// A running server and the requests that it got.
  private final class Endpoint {
    let process = Process()
    let log: String
    let port: Int

    init(_ home: QueueTool, _ table: String = "{}", port: Int = 0) throws {
      log = home.tool.home["requests"]
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.arguments = ["python3", "-c", DeliverHTTPTests.server, table, log, "\(port)"]
      let pipe = Pipe()
      process.standardOutput = pipe
      try process.run()
      let line = String(decoding: pipe.fileHandleForReading.availableData, as: UTF8.self)
      self.port = Int(line.trimmingCharacters(in: .newlines)) ?? 0
    }

    deinit {
      // SIGTERM may be blocked in the server, as in the process that starts it.
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }

    var url: String { "http://127.0.0.1:\(port)/push" }

    var requests: [Request] {
      let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
      return text.split(separator: "\n").compactMap { try? JSONDecoder().decode(Request.self, from: Data($0.utf8)) }
    }
  }

  private func queue(_ count: Int) async throws -> QueueTool {
    let queue = try QueueTool()
    try await queue.work((1...count).map { "{\"n\":\($0)}\n" }.joined())
    return queue
  }

  @Test func `each payload is the body of a post, with the fields that were asked for`() async throws {
    let queue = try await queue(50)
    let endpoint = try Endpoint(queue)
    let token = queue.tool.home["token"]
    try "secret-1\n".write(toFile: token, atomically: true, encoding: .utf8)
    let run = try await queue.run(
      "deliver", ["--once", "--http", endpoint.url, "--http-header", "X-Team: push", "--http-bearer-file", token, "--jobs", "4"])
    #expect(run.exit == .status(0))
    #expect(run.errors.contains("attache: delivered 50, dropped 0, poison 0, expired 0, retried 0 in "))
    let requests = endpoint.requests
    #expect(requests.map(\.body).sorted() == (1...50).map { "{\"n\":\($0)}" }.sorted())
    let first = try #require(requests.first { $0.body == "{\"n\":7}" })
    #expect(first.path == "/push")
    #expect(first.fields["content-type"] == "application/json" && first.fields["x-team"] == "push")
    #expect(first.fields["authorization"] == "Bearer secret-1")
    #expect(first.fields["attache-id"] == "7" && first.fields["attache-attempt"] == "1")
    #expect(try await queue.run("queue", ["--line", "7"]).text.contains("  delivered: 200\n"))
  }

  @Test func `what may pass is retried, and any other status is final`() async throws {
    let queue = try await queue(6)
    let again = #"[[429,{"Retry-After":"1"}],[200,{}]]"#
    let endpoint = try Endpoint(
      queue, #"{"1":\#(again),"2":[[503,{"Retry-After":"1"}],[204,{}]],"3":[[400,{}]],"4":[[301,{"Location":"/x"}]],"5":[[0,{}],[200,{}]]}"#
    )
    let run = try await queue.run("deliver", ["--once", "--http", endpoint.url])
    #expect(run.exit == .status(0))
    #expect(run.errors.contains("attache: delivered 4, dropped 2, poison 0, expired 0, retried 3 in "))
    let histories = try await (1...5).asyncMap { try await queue.run("queue", ["--line", "\($0)"]).text }
    #expect(histories[0].contains("  try 1 of the delivery: status 429: because\n"))
    #expect(histories[1].contains("  delivered: 204\n"))
    #expect(histories[2].contains("  dropped: status 400: because\n"))
    #expect(histories[3].contains("  dropped: status 301\n"))
    #expect(histories[4].contains("  try 1 of the delivery: "))
    #expect(endpoint.requests.filter { $0.path == "/x" }.isEmpty)
  }

  @Test(arguments: [[], ["--ordered"]]) func `a wrong token pauses, drops nothing and uses up no try`(flags: [String]) async throws {
    let queue = try await queue(200)
    let endpoint = try Endpoint(queue, #"{"token":"right"}"#)
    let token = queue.tool.home["token"]
    try "wrong\n".write(toFile: token, atomically: true, encoding: .utf8)
    let words = ["--once", "--http", endpoint.url, "--http-bearer-file", token, "--jobs", "8"]
    let program = try queue.start("deliver", words + flags)
    _ = await program.errors(holding: "paused: status 401")
    try "right\n".write(toFile: token, atomically: true, encoding: .utf8)
    let run = await program.finished()
    #expect(run.exit == .status(0))
    #expect(run.errors.contains("attache: delivered 200, dropped 0, poison 0, expired 0, retried 0 in "), "\(run.errors)")
    let sentence =
      "paused: status 401: because; 3 payloads in a row were refused: check the flags of the receiver; no result is lost"
    #expect(run.errors.contains(sentence), "\(run.errors)")
    #expect(run.errors.contains("the deliverer goes on"))
    let requests = endpoint.requests
    #expect(requests.count { $0.status == 401 } <= 16 && requests.count { $0.status == 200 } == 200)
    #expect(requests.allSatisfy { $0.fields["attache-attempt"] == "1" })
  }

  @Test func `what the endpoint alone refuses is dropped, and --strict tells; what nothing accuses stays in the queue`() async throws {
    let queue = try await queue(3)
    let endpoint = try Endpoint(queue, #"{"2":[[404,{}]],"3":[[404,{}]]}"#)
    let run = try await queue.run("deliver", ["--once", "--strict", "--http", endpoint.url])
    #expect(run.exit == .status(65))
    #expect(["2", "3"].contains { run.errors.contains("payload \($0) is dropped: status 404: because\n") })
    #expect(run.errors.contains("1 more payload is dropped, in 0 s: status 404\n"))
    #expect(run.errors.hasSuffix(" × status 404, 1 × status 200\n"))
    let other = try await self.queue(2)
    let refusing = try Endpoint(other, #"{"token":"right"}"#)
    let left = try await other.run("deliver", ["--once", "--http", refusing.url])
    #expect(left.exit == .status(75))
    #expect(left.errors.contains("waits until the endpoint accepts another one"))
    #expect(left.errors.contains("attache: delivered 0, dropped 0, poison 0, expired 0, retried 0 in "), "\(left.errors)")
  }

  @Test func `what a service refuses inside a 200 is dropped, tried again, or recorded element by element`() async throws {
    let queue = try await queue(4)
    func body(_ text: String) -> String { #"[200,{"X-Body":"\#(text.replacing("\"", with: "\\\""))"}]"# }
    let good = #"{"id":"a"}"#
    let (gone, busy) = (#"{"error":"Gone"}"#, #"{"error":"Busy"}"#)
    let endpoint = try Endpoint(
      queue,
      #"""
      {"1":[\#(body(#"{"data":[\#(good)]}"#))],"2":[\#(body(#"{"data":[\#(gone)]}"#))],
       "3":[\#(body(#"{"data":[\#(busy)]}"#)),\#(body(#"{"data":[\#(good)]}"#))],"4":[\#(body(#"{"data":[\#(good),\#(busy),\#(gone)]}"#))]}
      """#)
    let run = try await queue.run(
      "deliver",
      ["--once", "--strict", "--http", endpoint.url, "--http-ok", "/data/*/id", "--http-error", "/data/*/error", "--http-retry", "Busy"])
    #expect(run.exit == .status(65))
    #expect(run.errors.contains("attache: delivered 3, dropped 1, poison 0, expired 0, retried 1 in "), "\(run.errors)")
    #expect(run.errors.contains("payload 4 is partly refused: status 200, 2 of 3 refused: 2 Busy, 3 Gone\n"))
    #expect(run.errors.contains("payload 2 is dropped: status 200 with Gone\n"), "\(run.errors)")
    let histories = try await (1...4).asyncMap { try await queue.run("queue", ["--line", "\($0)"]).text }
    #expect(histories[0].contains("  delivered: 200\n"))
    #expect(histories[1].contains("  dropped: status 200 with Gone\n"))
    #expect(histories[2].contains("  try 1 of the delivery: status 200 with Busy\n") && histories[2].contains("  delivered: 200\n"))
    #expect(histories[3].contains("  delivered: status 200, 2 of 3 refused: 2 Busy, 3 Gone\n"))
    #expect(endpoint.requests.count { $0.fields["attache-id"] == "4" } == 1)
  }

  /// libcurl alone would repeat the request on a new connection: two requests for each try.
  @Test func `a connection that is closed instead of an answer costs a try for each request that the endpoint got`() async throws {
    let queue = try await queue(3)
    let endpoint = try Endpoint(queue, #"{"2":[[0,{}],[200,{}]]}"#)
    let run = try await queue.run("deliver", ["--once", "--http", endpoint.url, "--jobs", "1"])
    #expect(run.exit == .status(0))
    #expect(run.errors.contains("attache: delivered 3, dropped 0, poison 0, expired 0, retried 1 in "), "\(run.errors)")
    let requests = endpoint.requests
    #expect(requests.filter { $0.fields["attache-id"] == "2" }.map { $0.fields["attache-attempt"] } == ["1", "2"])
    #expect(
      try await queue.run("queue", ["--line", "2"]).text.contains("try 1 of the delivery: the connection was closed before an answer\n"))
  }

  @Test func `a sender without a free descriptor says so, and goes on when it has one`() async throws {
    let queue = try await queue(1)
    let endpoint = try Endpoint(queue, #"{"1":[[-1,{}]]}"#)
    let program = try queue.start("deliver", ["--http", endpoint.url])
    while endpoint.requests.isEmpty { try Task.checkCancellation() }
    try program.limit("--nofile=1:")
    // Another result needs another connection.
    try await queue.work("{\"n\":2}\n")
    _ = await program.errors(holding: "this machine could not make a connection: ")
    try program.limit("--nofile=64:")
    _ = try await queue.state { $0.unread == 1 }
    program.send(SIGTERM)
    await program.signalsAreTaken()
    program.send(SIGTERM)
    #expect(await program.finished().exit == .status(75))
  }

  @Test func `a request that hangs keeps no other waiting, and is the only one that is tried again`() async throws {
    let queue = try await queue(21)
    let endpoint = try Endpoint(queue, #"{"1":[[-1,{}]]}"#)
    let program = try queue.start("deliver", ["--http", endpoint.url, "--answer-timeout", "3s"])
    _ = try await queue.state { $0.unread == 1 }
    #expect(Set(endpoint.requests.map(\.body)) == Set((1...21).map { "{\"n\":\($0)}" }))
    #expect(try await queue.history(1) { $0.contains("try 1 of the delivery: ") }.contains("Operation timed out"))
    program.send(SIGTERM)
    let run = await program.finished()
    #expect(run.exit == .status(75))
    #expect(run.errors.contains("attache: delivered 20, dropped 0, poison 0, expired 0, retried "))
    #expect(!run.errors.contains("paused"))
  }

  @Test func `an endpoint that is away pauses the deliverer, and costs no try`() async throws {
    let queue = try await queue(3)
    let port = try Endpoint(queue).port
    let program = try queue.start("deliver", ["--once", "--http", "http://127.0.0.1:\(port)/push"])
    _ = await program.errors(holding: "paused: ")
    let endpoint = try Endpoint(queue, port: port)
    let run = await program.finished()
    #expect(run.exit == .status(0))
    #expect(run.errors.contains("attache: delivered 3, dropped 0, poison 0, expired 0, retried 0 in "))
    #expect(endpoint.requests.allSatisfy { $0.fields["attache-attempt"] == "1" })
  }

  @Test(arguments: [
    (["--http", "ftp://example.test/"], 64, "--http takes a URL that begins with https:// or http://"),
    (["--http", "http://127.0.0.1:1/", "--", "cat"], 64, "name a command, --http, --apns, --fcm or --folder: one of them"),
    (["--http", "http://127.0.0.1:1/", "--each"], 64, "--each and --envelope need a command"),
    (["--http", "http://127.0.0.1:1/", "--http-header", "nonsense"], 64, "--http-header takes 'Name: value'"),
    (["--http-bearer-file", "x", "--", "cat"], 64, "--http-bearer-file needs --http URL"),
    (["--http-ok", "/id", "--", "cat"], 64, "--http-ok needs --http URL"),
    (["--http", "http://127.0.0.1:1/", "--http-error", "/error"], 64, "--http-error needs --http-ok"),
    (["--http", "http://127.0.0.1:1/", "--http-ok", "/id", "--http-retry", "Busy"], 64, "--http-retry needs --http-error"),
    (["--http", "http://127.0.0.1:1/", "--http-ok", "/a~2"], 64, "--http-ok"),
    (["--http", "http://127.0.0.1:1/", "--http-bearer-file", "/nowhere"], 69, "/nowhere: No such file or directory"),
    (["--http", "http://127.0.0.1:1/", "--http-bearer-file", "/etc/passwd"], 69, "/etc/passwd: is not a token"),
    (["--http", "http://127.0.0.1:1/", "--cacert", "/nowhere"], 64, "/nowhere"),
    (["--cacert", "/etc/ssl/certs/ca-certificates.crt", "--", "cat"], 64, "--cacert needs --http, --apns or --fcm"),
  ])
  func `wrong usage says what is right`(arguments: [String], status: Int32, message: String) async throws {
    let run = try await queue(1).run("deliver", arguments)
    #expect(run.exit == .status(status))
    #expect(run.errors.contains(message))
  }
}

extension Sequence {
  fileprivate func asyncMap<Value>(_ body: (Element) async throws -> Value) async throws -> [Value] {
    var values: [Value] = []
    for element in self { values.append(try await body(element)) }
    return values
  }
}
