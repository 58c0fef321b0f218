import Attache
import AttacheTesting
import Foundation
import Testing

/// What Apple's frameworks do in an extension: each fixture of Fixtures/extensions/Library answers with what it saw.
@Suite(.timeLimit(.minutes(3)), .serialized)
struct ExtensionLibraryTests {
  /// The fixtures that were built, each by a tool that keeps it.
  private actor Programs {
    private var built: [String: (tool: AttacheTool, program: String)] = [:]

    func program(_ fixture: String) async throws -> String {
      if let known = built[fixture] { return known.program }
      let tool = try AttacheTool()
      let program = try await ExtensionCommandTests.build("Library/\(fixture).swift", tool)
      built[fixture] = (tool, program)
      return program
    }
  }

  private static let programs = Programs()

  /// Runs a fixture with the filter.
  ///
  /// - Parameter values: what the payload has beside `aps`.
  /// - Returns: the lines of the notification's text.
  private func lines(
    _ fixture: String, _ values: [String: Any] = [:], text: String = "Text", _ flags: [String] = [],
    change: (inout Launch) -> Void = { _ in }
  ) async throws -> [String] {
    let tool = try AttacheTool()
    let aps: [String: Any] = ["alert": ["title": "Hello", "body": text], "mutable-content": 1]
    let payload = try JSONSerialization.data(withJSONObject: values.merging(["aps": aps]) { $1 })
    let program = try await Self.programs.program(fixture)
    let run = try await tool.run(["--extension", program, "--deadline", "20s"] + flags, input: Array(payload) + [0x0A], change: change)
    try #require(run.exit == .status(0), "\(run.errors)")
    let answer = try #require(try JSONSerialization.jsonObject(with: Data(run.text.utf8)) as? [String: Any])
    let alert = try #require((answer["aps"] as? [String: Any])?["alert"] as? [String: Any])
    return try #require(alert["body"] as? String).components(separatedBy: "\n")
  }

  /// What swift-crypto 4.5.2, which uses BoringSSL, made of two keys and a text.
  private static let vectors = [
    "own": "l6U5/LxCqjKcmeo69kklIL+IfoWJnmLXxL78n0poET0=",
    "peer": "BNtgWy9KLzF/8lEYIylcZurPYmB2FGbFaAaR9NXYUTWV25+F5JswH/9caJ0rFEYn9MB+TrvIgPwAtJfPRgkP3TU=",
    "sealed": "eKWBon7LHFOJTbMDE+SMBcIIda4ZyAZVKNNO6AbWISfQROysaRo+",
    "signature": "MEQCIF28eCIH89Rlhvo78xcYrSsEWWGHIoaq0hHdqX/u4u/vAiBuczPL9pL1y9Az6RLVjnQBSbguE5l64VCtoZPpL8HKNA==",
    "signer": """
    -----BEGIN PUBLIC KEY-----
    MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEI+dX2UA8MZp/x84fnfzuTp2uvNgE
    D7pnIwSPEqOcxYwxh/JPLW0r53dw1iK13lbA6ZgRxPOfEKRUYsOJO9NKUA==
    -----END PUBLIC KEY-----
    """,
  ]

  @Test func `keys, secrets and signatures are those of other implementations`() async throws {
    let lines = try await lines("Keys", Self.vectors)
    try #require(lines.count == 12, "\(lines)")
    #expect(lines[0] == "The message")
    #expect(lines[1] == "true false")
    // The text of the key came in one line.
    let pem = lines[2].replacingOccurrences(of: " ", with: "\n").replacingOccurrences(of: "\nPUBLIC\nKEY", with: " PUBLIC KEY")
    let answerer = try #require(CryptoKey(publicPEM: pem))
    let message = Array("The message".utf8)
    let (der, raw) = (try #require(Data(base64Encoded: lines[3])), try #require(Data(base64Encoded: lines[4])))
    #expect(unsafe OpenSSL.verify(Array(der), of: message, answerer.handle))
    #expect(answerer.isSignature(Array(raw), of: message))
    #expect(lines[5] == "QxjncmAXT/qYMKLh+gZdPa6WObYTkns7VPGPSUZLmZs=")
    #expect(lines[6] == "AAECAwQFBgcICQoL1Dnzv54Epq1QUZNRD+LgcxN2NArRvVx0m8rj")
    #expect(lines[7] == "AQsJCZ297ozu3aNIjRhfcjIMsZtZ0YOtUlvmWSY3oKNi0eS1aGMdE7ZcpewcRL68")
    #expect(lines[8...10] == ["P256 true true", "P384 true true", "P521 true true"])
    var refusals = [String](repeating: "invalidParameter", count: 7)
    refusals[2] = "incorrectParameterSize"
    #expect(lines[11] == refusals.joined(separator: " "))
  }

  @Test func `a failed transfer has the code of Apple's Foundation`() async throws {
    try await withOrigin { origin in
      let faults: [(path: String, fault: Fault, code: String)] = [
        ("/cut", .closeEarly(afterBytes: 3), "-1005"), ("/reset", .resetBeforeHeaders, "-1005"), ("/empty", .closeBeforeHeaders, "-1005"),
        ("/other", .notHTTP, "-1017"), ("/gzip", .header(name: "Content-Encoding", value: "gzip"), "-1015"),
        ("/loop", .redirectLoop, "-1007"),
      ]
      for (path, fault, _) in faults { origin.serve(path, Array("hello\n\nyou".utf8), faults: [fault]) }
      origin.serve("/stall", [1, 2, 3], faults: [.stall(afterBytes: 1)])
      origin.serve("/whole", Array("hello\n\nyou".utf8))
      let closed = try await FaultOrigin.start()
      await closed.stop()
      let more = [closed.url("/a"), origin.url("/stall"), origin.url("/whole"), "data:;base64,aGVsbG8K", "data:,a%20b"]
      let urls = faults.map { origin.url($0.path) } + more
      let lines = try await lines("Transfers", ["urls": urls], AttacheTool.loopback)
      func everyWay(_ result: String) -> String { [String](repeating: result, count: 6).joined(separator: " ") }
      #expect(lines == faults.map { everyWay($0.code) } + [everyWay("-1004"), "-1001", "10 10 10 10 10 8", "6 6 6 6 6 5", everyWay("3")])
    }
  }

  @Test(arguments: [FaultOrigin.TLS.selfMade(), .expired, .misnamed("other.example"), .selfSigned])
  func `a certificate that is not trusted, and plain http, have codes of their own`(tls: FaultOrigin.TLS) async throws {
    try await withOrigin { plain in
      try await withOrigin(tls: tls) { origin in
        origin.serve("/a", [1, 2, 3])
        origin.serve("/down", [], faults: [.redirect(to: plain.url("/a"))])
        plain.serve("/a", [1, 2, 3])
        let root = try #require(origin.rootCertificatePEMFile)
        let (isTrusted, count) = (tls == .selfMade(), plain.requestCount())
        let noTLS = plain.url("/a").replacingOccurrences(of: "http:", with: "https:")
        let urls = [origin.url("/a"), origin.url("/down"), plain.url("/a"), noTLS]
        let lines = try await lines("Transfers", ["urls": urls], ["--allow-net", "127.0.0.0/8", "--cacert", root])
        let codes = isTrusted ? ["3", "-1022", "-1022", "-1200"] : ["-1202", "-1202", "-1022", "-1200"]
        #expect(lines.map { $0.split(separator: " ").map(String.init) } == codes.map { [String](repeating: $0, count: 6) })
        #expect(plain.requestCount() == count)
      }
    }
  }

  /// Needs libvips.
  @Test func `pictures are read, drawn and written`() async throws {
    let lines = try await lines("Pictures", ["folder": Sample.fixtures + "/media"])
    let read = [
      "animation.gif 3 com.compuserve.gif 48 1 48x32 48x32", "photo-turned.jpg 1 public.jpeg 96 6 96x64 64x96",
      "picture-alpha.png 1 public.png 96 1 96x64 96x64", "photo.avif 1 public.avif 64 1 64x48 64x48", "drawing.svg 0 no type - - - -",
      "error.json 0 no type - - - -", "no file",
    ]
    #expect(lines.prefix(read.count) == read[...])
    let rest = lines.dropFirst(read.count)
    #expect(rest.prefix(4) == ["48x32", "32x48", "96x64", "none"])
    #expect(rest.dropFirst(4).prefix(4) == ["true", "right", "false", "not written"])
    #expect(rest.dropFirst(8) == Self.drawn[...])
  }

  /// Pixels that the fixture draws, as red, green, blue and alpha.
  private static let drawn = [
    "00000000 ff0000ff 00ff00ff 0000ffff ffffffff", "00000000 ff0000ff ffffffff", "20 40 808080ff 0000ffff ff0000ff ffffffff",
    "00000000 00000000 000000ff ffff00ff 00000000", "ff0000ff 00ff00ff 0000ffff", "ff0000ff 0000ffff",
    "true 4.0",
  ]

  @Test func `without libvips no picture is read or written, and drawing works`() async throws {
    let empty = try TemporaryFolder()
    try Data("no library".utf8).write(to: URL(filePath: empty["libvips.so.42"]))
    let lines = try await lines("Pictures", ["folder": Sample.fixtures + "/media"]) { $0.environment["LD_LIBRARY_PATH"] = empty.path }
    // The sizes of images come from their headers.
    let read = [
      "animation.gif 0 no type - - - 48x32", "photo-turned.jpg 0 no type - - - 96x64", "picture-alpha.png 0 no type - - - 96x64",
      "photo.avif 0 no type - - - -", "drawing.svg 0 no type - - - -", "error.json 0 no type - - - -", "no file",
    ]
    #expect(lines.prefix(read.count) == read[...])
    #expect(lines.dropFirst(read.count).prefix(4) == ["none", "none", "none", "none"])
    #expect(lines.dropFirst(read.count + 4) == [Self.drawn[0], "no pixels"] + Self.drawn[2...])
  }

  /// Needs libvips. The picture has 11,000 × 11,000 pixels in 5 KB.
  @Test func `the pixels of a picture count as the extension's memory`() async throws {
    try await withOrigin { origin in
      origin.serve("/vast", try Sample.medium("photo-vast.webp"))
      origin.serve("/photo", try Sample.medium("photo.webp"))
      let tool = try AttacheTool()
      let program = try await ExtensionCommandTests.build("Picture.swift", tool)
      for (path, reason) in [("/vast", "extension.memory"), ("/photo", nil)] {
        let input = #"{"aps":{"alert":"Text","mutable-content":1},"image":"\#(origin.url(path))"}"# + "\n"
        let (run, records) = try await tool.reported(AttacheTool.loopback + ["--extension", program, "--deadline", "20s"], input: input)
        #expect(run.exit == .status(0), "\(run.errors)")
        #expect(records.map(\.reason) == [reason])
      }
    }
  }

  @Test func `names that Foundation for Linux lacks do what they say`() async throws {
    let text = "See https://example.com/a?b=c, www.example.org (or write to anna@example.net)."
    let lines = try await lines("Names", text: text)
    #expect(
      lines == [
        "https://example.com/a?b=c https://example.com/a?b=c | http://www.example.org www.example.org | mailto:anna@example.net anna@example.net",
        "5 minutes ago, in 1 hour, 1 day ago, in 0 seconds, 2 months ago, yesterday, in 2 days, now, 5 min. ago",
        "64",
        "true, 100, false, /Library /Library/Application Support, true, 3.0, false, nominal, receipt, 36",
      ])
  }
}
