import Attache
import Testing

@testable import AttacheTesting

/// The behaviour of an origin gives the same result with libcurl on loopback and on the simulated
/// machine.
@Suite(.timeLimit(.minutes(1)))
struct ClockAgreementTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var scenario: Scenario
    var reason: Reason?

    init(_ description: String, _ reason: Reason?, _ scenario: Scenario, _ change: (inout Scenario) -> Void = { _ in }) {
      testDescription = description
      self.reason = reason
      self.scenario = scenario
      if reason == .deadline { (self.scenario.deadline, self.scenario.grace) = (.milliseconds(400), .milliseconds(100)) }
      change(&self.scenario)
    }
  }

  private static let photo = PhotoScenario.photo
  private static let whole = OriginStep(.send(photo, count: nil))

  private static func steps(_ steps: OriginStep...) -> Scenario {
    PhotoScenario.make(steps: steps) { $0.flags = ["--retries", "0"] }
  }

  private static func raw(_ text: String) -> Scenario {
    steps(OriginStep(.raw(text)))
  }

  private static func secure(_ steps: OriginStep...) -> Scenario {
    PhotoScenario.make(steps: steps) {
      $0.flags = ["--retries", "0"]
      $0.origins["origin"]?.tls = .good
    }
  }

  private static func name(_ turns: NameScript.Answer...) -> Scenario {
    PhotoScenario.make("http://photo.example:{{port}}/photo.jpg") {
      $0.names = ["photo.example": NameScript(turns.map { NameScript.Turn($0) })]
    }
  }

  private static func header(_ name: String, _ value: String) -> OriginStep {
    OriginStep(.header(name: name, value: value))
  }

  private static let home = NameScript.Answer.addresses([.v4(0x7F00_0001)])

  static let framing = [
    Row("a length", nil, steps(whole)),
    Row("a length that is too long", .httpTruncated, steps(OriginStep(.length(.offBy(10))), whole)),
    Row("a length that is too short", .typeBroken, steps(OriginStep(.length(.offBy(-10))), whole)),
    Row("a length of nothing", .sizeEmpty, steps(OriginStep(.length(.bytes(0))), OriginStep(.close))),
    Row("chunks", nil, steps(OriginStep(.length(.chunked)), whole)),
    Row("chunks that break off", .httpTruncated, steps(OriginStep(.length(.chunked)), whole, OriginStep(.close))),
    Row("no length", nil, steps(OriginStep(.length(.absent)), whole)),
    Row("no length and a reset", .httpTruncated, steps(OriginStep(.length(.absent)), whole, OriginStep(.reset, at: .milliseconds(100)))),
    Row("two lengths", .httpFraming, steps(header("Content-Length", "1"), header("Content-Length", "2"), whole)),
    Row("a length that is no number", .httpFraming, steps(header("Content-Length", "many"), whole)),
    Row("a coding unasked", .httpEncoding, steps(header("Content-Encoding", "gzip"), whole)),
    Row("a folded field", .httpFraming, raw("HTTP/1.1 200 OK\r\nX-A: b\r\n c\r\nContent-Length: 3\r\n\r\nGIF")),
    Row("a chunk that is none", .httpFraming, raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nGIF89a\r\n0\r\n\r\n")),
    Row("a status that is none", .httpProtocol, raw("HTTP/1.1 abc\r\n\r\n")),
    Row("no HTTP", .httpProtocol, raw("SSH-2.0-OpenSSH\r\n")),
    Row("a head that breaks off", .httpTruncated, raw("HTTP/1.1 200 OK\r\nContent-Le")),
    Row("a status line that breaks off", .connectReset, raw("HTTP/1.1 20")),
    Row("too many fields", .httpHeaders, steps(OriginStep(.header(name: "X", value: "y"), repetition: .times(300)), whole)),
    Row("fields without an end", .httpHeaders, steps(OriginStep(.header(name: "X", value: "y"), repetition: .forever))),
    Row("an interim response", nil, raw("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n\r\n\(gif)")),
  ]

  /// The smallest picture, in ASCII characters that a YAML text can contain.
  private static let gif =
    "GIF89a\u{1}\u{0}\u{1}\u{0}\u{0}\u{0}\u{0}!\u{1}\u{4}\u{1}\u{0}\u{0}\u{0}\u{0},\u{0}\u{0}\u{0}\u{0}\u{1}\u{0}\u{1}\u{0}\u{0}\u{2}\u{2}D\u{1}\u{0};\u{0}\u{0}\u{0}"

  static let course = [
    Row("a status", .httpStatus, steps(OriginStep(.status(404)))),
    Row("nothing at the path", .httpStatus, steps(whole)) { $0.origins["origin"]?.paths = [:] },
    Row("a reset instead of a response", .connectReset, steps(OriginStep(.reset))),
    Row("a close instead of a response", .connectReset, steps(OriginStep(.close))),
    Row("a reset within the body", .httpTruncated, steps(OriginStep(.send(photo, count: 100)), OriginStep(.reset, at: .milliseconds(100)))),
    Row("a close within the body", .httpTruncated, steps(OriginStep(.send(photo, count: 100)), OriginStep(.close))),
    Row("a stall", .deadline, steps(OriginStep(.stall))),
    Row("a stall behind the head", .deadline, steps(OriginStep(.status(200)), OriginStep(.stall))),
    Row("a reset behind the head", .httpTruncated, steps(OriginStep(.status(200)), OriginStep(.reset, at: .milliseconds(100)))),
    Row("a stall within the body", .deadline, steps(OriginStep(.send(photo, count: 100)), OriginStep(.stall))),
    Row("a drip", .deadline, steps(OriginStep(.send(photo, count: 10), repetition: .forever, every: .milliseconds(50)))),
    Row("a drip that ends", nil, steps(OriginStep(.send(photo, count: 10_000), repetition: .times(3), every: .milliseconds(10)))),
    Row("a body without an end", .sizeImage, steps(OriginStep(.send(photo, count: nil), repetition: .forever))) {
      $0.flags += ["--limits", "image=200KB"]
    },
    Row("a page", .typeUnsupported, steps(OriginStep(.text("<!DOCTYPE html><html><body>Not here</body></html>")))),
    Row("a redirect", nil, steps(OriginStep(.redirect("/b")))) {
      $0.origins["origin"]?.paths["/b"] = PathScript(responses: [[whole]])
    },
    Row("a redirect to itself", .httpRedirect, steps(OriginStep(.redirect("/photo.jpg")))),
    Row("an old connection that is dead", nil, steps(whole)) {
      $0.payloads += $0.payloads.map { $0.replacing("photo.jpg", with: "b.jpg") }
      $0.origins["origin"]?.paths["/b.jpg"] = PathScript(responses: [[OriginStep(.reset)], [whole]])
      $0.flags += ["--jobs", "1"]
    },
    Row("a connection that is announced to close", nil, steps(header("Connection", "close"), whole)) {
      $0.payloads += $0.payloads
      $0.flags += ["--jobs", "1", "--cache", "off"]
    },
    Row("many at a time", nil, steps(OriginStep(.send(photo, count: nil), at: .milliseconds(100)))) {
      $0.payloads = Array(repeating: $0.payloads[0], count: 8)
      $0.flags += ["--cache", "off"]
    },
  ]

  static let names = [
    Row("a name", nil, name(home)),
    Row("a name that does not exist", .dnsNotFound, name(.none)),
    Row("a server that fails", .dnsFailed, name(.failure)),
    Row("a server that fails once", nil, name(.failure, home)),
    Row("an answer that is lost once", nil, name(.stall, home)),
    Row("a server that stalls", .deadline, name(.stall)),
    Row("an address that is private", .policyAddress, name(.addresses([.v4(0x0A00_0001)]))),
    Row("a port that nobody serves", .connectRefused, steps(whole)) { $0.origins["origin"]?.connection = .refused },
    Row("a connection that is reset", .connectReset, steps(whole)) { $0.origins["origin"]?.connection = .reset },
    Row("a connection that is silent", .deadline, steps(whole)) { $0.origins["origin"]?.connection = .silent },
    Row("packets that are dropped", .connectFailed, steps(whole)) {
      $0.origins["origin"]?.connection = .dropped
      $0.deadline = .milliseconds(600)
    },
  ]

  static let secured = [
    Row("TLS", nil, secure(whole)),
    Row("TLS without HTTP/2", nil, secure(whole)) { $0.origins["origin"]?.offersHTTP2 = false },
    Row("many streams", nil, secure(OriginStep(.send(photo, count: nil), at: .milliseconds(100)))) {
      $0.payloads = Array(repeating: $0.payloads[0], count: 8)
      $0.flags += ["--cache", "off", "--fetchers", "1"]
    },
    Row("a stream that is reset", .httpProtocol, secure(OriginStep(.reset))),
    Row(
      "a stream that is reset within the body", .httpTruncated,
      secure(OriginStep(.send(photo, count: 100)), OriginStep(.reset, at: .milliseconds(100)))),
    Row(
      "a connection that closes within the body", .httpTruncated,
      secure(OriginStep(.send(photo, count: 100)), OriginStep(.close, at: .milliseconds(100)))),
    Row("a stall within a stream", .deadline, secure(OriginStep(.send(photo, count: 100)), OriginStep(.stall))),
    Row("a stream without a length", nil, secure(OriginStep(.length(.absent)), whole)),
    Row("a script that needs HTTP/1", .httpStatus, secure(OriginStep(.raw("SSH-2.0\r\n")))),
    Row("a status over HTTP/2", .httpStatus, secure(OriginStep(.status(404)))),
    Row("a redirect over HTTP/2", nil, secure(OriginStep(.redirect("/b")))) {
      $0.origins["origin"]?.paths["/b"] = PathScript(responses: [[whole]])
    },
    Row("an expired certificate", .tlsCertificate, secure(whole)) { $0.origins["origin"]?.tls = .expired },
    Row("a certificate for another host", .tlsHost, secure(whole)) { $0.origins["origin"]?.tls = .wrongHost },
    Row("an unknown root", .tlsCertificate, secure(whole)) { $0.origins["origin"]?.tls = .untrusted },
    Row("a handshake that is reset", .tlsHandshake, secure(whole)) { $0.origins["origin"]?.connection = .reset },
    Row("a handshake that stalls", .tlsHandshake, secure(whole)) {
      $0.origins["origin"]?.tls = .stalled
      $0.deadline = .milliseconds(600)
    },
    Row("https at a plain port", .tlsHandshake, steps(whole)) {
      $0.payloads = $0.payloads.map { $0.replacing("{{origin}}", with: "https://127.0.0.1:{{port}}") }
    },
    Row("http at a port for TLS", .connectReset, secure(whole)) {
      $0.payloads = $0.payloads.map { $0.replacing("{{origin}}", with: "http://127.0.0.1:{{port}}") }
    },
  ]

  @Test(arguments: framing + course + names + secured)
  func `both clocks decide alike`(_ row: Row) async throws {
    let real = try await InProcessRun.run(row.scenario)
    let virtual = try await VirtualRun.run(row.scenario, seed: 1)
    #expect(Set((real.report ?? []).map(\.reason)) == [row.reason], "real: \(real.timeline.map(\.text))")
    #expect(Set((virtual.report ?? []).map(\.reason)) == [row.reason], "virtual: \(virtual.timeline.map(\.text))")
    #expect(AgreementCheck.findings(real: RunAnalysis(real, of: row.scenario), virtual: RunAnalysis(virtual, of: row.scenario)) == [])
    #expect(real.connections == virtual.connections)
    #expect(real.exitStatus == virtual.exitStatus)
  }
}
