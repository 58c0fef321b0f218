import Attache
import Testing

@testable import AttacheTesting

@Suite struct RecordingTests {
  private static func recording(_ lines: [String], _ exchanges: [RecordedExchange], _ records: [ReportedLine] = []) -> Recording {
    Recording(
      lines: lines, endsWithLineFeed: true, deadline: .seconds(1), grace: nil, flags: [], exchanges: exchanges, names: [:],
      records: records,
      attachments: [:])
  }

  private static func exchange(_ change: (inout RecordedExchange) -> Void) -> RecordedExchange {
    var exchange = RecordedExchange(isSecure: true, host: "cdn.example", port: 443, path: "/a.jpg")
    change(&exchange)
    return exchange
  }

  private static func steps(_ exchanges: RecordedExchange...) throws -> [[OriginStep]] {
    let (scenario, _) = recording(["x"], exchanges).scenario(file: "r.yaml", mediaFolder: nil)
    // A reader must accept what was written.
    let read = try Scenario(yaml: scenario.yaml(), file: "r.yaml")
    return try #require(read.origins["origin"]?.paths["/a.jpg"]?.responses)
  }

  private static func standIn(_ name: String) throws -> Medium {
    Medium(name: name, bytes: try #require(try StandIn.bytes(named: name)))
  }

  @Test func `a stalled body keeps its moments, and its bytes become a stand-in`() throws {
    let steps = try Self.steps(
      Self.exchange { exchange in
        exchange.head = .init(at: .milliseconds(250), status: 200, length: 20_000)
        exchange.pieces = [
          .init(at: .milliseconds(251), count: 400), .init(at: .milliseconds(252), count: 112), .init(at: .milliseconds(400), count: 512),
        ]
        exchange.type = .jpeg
      })
    let photo = try Self.standIn("stand-in-20000.jpg")
    #expect(
      steps == [
        [
          OriginStep(.send(photo, count: 512), at: .milliseconds(251)),
          OriginStep(.send(photo, count: 512), at: .milliseconds(400)), OriginStep(.stall),
        ]
      ])
  }

  @Test func `a whole body, an error and a redirect are what they were`() throws {
    let steps = try Self.steps(
      Self.exchange { exchange in
        exchange.head = .init(at: .zero, status: 503, length: 0, fields: [HeaderField("Retry-After", "1")])
        exchange.end = .complete
      },
      Self.exchange { exchange in
        exchange.head = .init(at: .zero, status: 307, location: "https://cdn.example/b.jpg")
        exchange.end = .complete
      },
      Self.exchange { exchange in
        exchange.head = .init(at: .zero, status: 200, isChunked: true)
        exchange.pieces = [.init(at: .milliseconds(1), count: 600)]
        exchange.type = .png
        exchange.end = .complete
      })
    #expect(
      steps == [
        [OriginStep(.status(503)), OriginStep(.header(name: "Retry-After", value: "1"))],
        [OriginStep(.status(307)), OriginStep(.redirect("https://cdn.example:{{origin.port}}/b.jpg"))],
        [OriginStep(.length(.chunked)), OriginStep(.send(try Self.standIn("stand-in-600.png"), count: nil))],
      ])
  }

  @Test(arguments: [
    (RecordedExchange.End.broken(.connectReset), [OriginStep(.reset)]), (.abandoned, [OriginStep(.stall)]),
    (.broken(.httpProtocol), [OriginStep(.raw("not HTTP\r\n"))]),
  ])
  func `without a head there is what broke it`(end: RecordedExchange.End, steps: [OriginStep]) throws {
    #expect(try Self.steps(Self.exchange { $0.end = end }) == [steps])
  }

  @Test func `a response that is wrong becomes one that is wrong for the same reason`() throws {
    for (reason, start) in [
      (Reason.httpFraming, "HTTP/1.1 200 OK\r\nTransfer-Encoding"), (.httpHeaders, "HTTP/1.1 200 OK\r\nX: {{pad"),
      (.policyRedirect, "HTTP/1.1 302"),
    ] {
      let steps = try Self.steps(
        Self.exchange { exchange in
          exchange.head = .init(at: .zero, status: 200, isChunked: true)
          exchange.end = .broken(reason)
        })
      guard case .raw(let text)? = steps.first?.first?.action else { return #expect(Bool(false), "\(steps)") }
      #expect(text.hasPrefix(start))
    }
    let steps = try Self.steps(
      Self.exchange { exchange in
        exchange.head = .init(at: .zero, status: 200, fields: [HeaderField("Content-Length", "1"), HeaderField("Content-Length", "2")])
        exchange.end = .complete
      })
    #expect(steps == [[OriginStep(.header(name: "Content-Length", value: "1")), OriginStep(.header(name: "Content-Length", value: "2"))]])
  }

  @Test func `a header that parsers disagree about, and what a client did not want of a body, replay as they were`() throws {
    let folded = try Self.steps(
      Self.exchange { exchange in
        exchange.head = .init(at: .milliseconds(20), status: 302, length: 0, location: "/b.jpg", isAmbiguous: true)
        exchange.end = .complete
      })
    #expect(
      folded == [
        [OriginStep(.raw("HTTP/1.1 302 Ambiguous\r\nX: a field\r\n on two lines\r\nContent-Length: 0\r\n\r\n"), at: .milliseconds(20))]
      ])
    let huge = try Self.steps(
      Self.exchange { exchange in
        exchange.head = .init(at: .zero, status: 200, length: 60_000_000)
        exchange.end = .complete
      })
    #expect(huge == [[OriginStep(.length(.bytes(60_000_000)))]])
  }

  @Test func `what looks like a placeholder in a header or a redirect stays what it is`() throws {
    let steps = try Self.steps(
      Self.exchange { exchange in
        exchange.head = .init(
          at: .zero, status: 302, length: 0, location: "/{{b}}.jpg", fields: [HeaderField("ETag", "\"{{origin}}\"")])
        exchange.end = .complete
      })
    #expect(steps == [[OriginStep(.redirect("/{{braces}}b}}.jpg")), OriginStep(.header(name: "ETag", value: "\"{{braces}}origin}}\""))]])
  }

  @Test func `a body that is too small for a stand-in is written out`() throws {
    let bytes = [UInt8](repeating: 7, count: 30)
    let steps = try Self.steps(
      Self.exchange { exchange in
        exchange.head = .init(at: .zero, status: 200, length: 40)
        exchange.pieces = [.init(at: .zero, count: 10), .init(at: .milliseconds(90), count: 20)]
        (exchange.body, exchange.type) = (bytes, .mpeg4)
      })
    #expect(
      steps == [
        [
          OriginStep(.length(.bytes(40))), OriginStep(.hex(Array(bytes[..<10]))),
          OriginStep(.hex(Array(bytes[10...])), at: .milliseconds(90)),
          OriginStep(.stall),
        ]
      ])
    let pixel = try Self.steps(
      Self.exchange { exchange in
        exchange.head = .init(at: .zero, status: 200, length: 69)
        exchange.pieces = [.init(at: .zero, count: 69)]
        (exchange.body, exchange.type, exchange.end) = ([UInt8](repeating: 0, count: 69), .png, .complete)
      })
    #expect(pixel == [[OriginStep(.send(try Self.standIn("stand-in-69.png"), count: nil))]])
  }

  @Test func `a long drip is joined to a scenario that people can read`() throws {
    let steps = try Self.steps(
      Self.exchange { exchange in
        exchange.head = .init(at: .zero, status: 200, length: 1_000)
        exchange.pieces = (0..<1_000).map { .init(at: .milliseconds($0 * 100), count: 1) }
        exchange.type = .gif
        exchange.end = .complete
      })
    #expect(steps[0].count <= 21)
  }

  @Test func `the URLs of a payload point at the scenario's origins, names kept and addresses replaced`() throws {
    let lines = [
      #"{"a":"https://cdn.example/a.jpg","b":"https:\/\/cdn.example\/a.jpg","c":"http://10.0.0.1:8080/b.png","d":"https://other.example/"}"#
    ]
    let second = RecordedExchange(isSecure: false, host: "10.0.0.1", port: 8_080, path: "/b.png")
    let (scenario, _) = Self.recording(lines, [Self.exchange { _ in }, second]).scenario(file: "r.yaml", mediaFolder: nil)
    #expect(
      scenario.payloads == [
        #"{"a":"https://cdn.example:{{origin.port}}/a.jpg","b":"https://cdn.example:{{origin.port}}\/a.jpg","c":"{{origin2}}/b.png","d":"https://other.example/"}"#
      ])
    #expect(scenario.origins["origin"]?.tls == .good && scenario.origins["origin2"]?.tls == nil)
  }

  @Test func `what looks like a placeholder in a payload stays what it is`() throws {
    let line = #"{"alert":"Hi {{name}}, {{n}} {{pad 4}}"}"#
    let (scenario, _) = Self.recording([line], []).scenario(file: "r.yaml", mediaFolder: nil)
    let read = try Scenario(yaml: scenario.yaml(), file: "r.yaml")
    #expect(Placeholders(origins: [:]).lines(of: read) == [Array(line.utf8)])
  }

  @Test func `connections that never came about are the origin's`() throws {
    let refused = Self.exchange { $0.end = .broken(.connectRefused) }
    let (scenario, _) = Self.recording(["x"], [refused, refused]).scenario(file: "r.yaml", mediaFolder: nil)
    #expect(scenario.origins["origin"]?.connection == .refused)
    #expect(scenario.expectation.requests == [:])
    _ = try Scenario(yaml: scenario.yaml(), file: "r.yaml")
  }

  @Test func `media that are kept lie beside the scenario, each once`() throws {
    let exchange = Self.exchange { exchange in
      exchange.head = .init(at: .zero, status: 200, length: 3)
      exchange.pieces = [.init(at: .zero, count: 3)]
      exchange.body = [1, 2, 3]
      exchange.end = .complete
    }
    let (scenario, media) = Self.recording(["x"], [exchange, exchange]).scenario(file: "r.yaml", mediaFolder: "r-media")
    #expect(media == [Medium(name: "r-media/1.bin", bytes: [1, 2, 3])])
    #expect(scenario.origins["origin"]?.paths["/a.jpg"]?.responses.count == 1)
    #expect(scenario.expectation.requests == ["/a.jpg": 2])
  }

  @Test func `a kept body that ended early keeps the length that it was to have`() throws {
    let exchange = Self.exchange { exchange in
      exchange.head = .init(at: .zero, status: 200, length: 100)
      exchange.pieces = [.init(at: .zero, count: 3)]
      (exchange.body, exchange.end) = ([1, 2, 3], .broken(.httpTruncated))
    }
    let (scenario, media) = Self.recording(["x"], [exchange]).scenario(file: "r.yaml", mediaFolder: "r-media")
    #expect(
      scenario.origins["origin"]?.paths["/a.jpg"]?.responses == [
        [OriginStep(.length(.bytes(100))), OriginStep(.send(media[0], count: nil)), OriginStep(.close)]
      ])
  }

  @Test func `what became of the payloads is what is expected`() throws {
    let records = [
      ReportedLine(line: 2, outcome: .fallback, reason: .deadline, media: [.init(url: "u", reason: .deadline)]),
      ReportedLine(line: 1, outcome: .attached, media: [.init(url: "v")]),
    ]
    var recording = Self.recording(["x", "y"], [], records)
    recording.attachments[1] = [GainedAttachment(url: "file:///f", type: "public.jpeg", size: 5, sha256: "")]
    let (scenario, _) = recording.scenario(file: "r.yaml", mediaFolder: nil)
    #expect(
      scenario.expectation.payloads == [
        .init(outcome: .attached, attachments: [.init(type: "public.jpeg", size: 5)], media: [nil]),
        .init(outcome: .fallback, reason: .deadline, media: [.deadline]),
      ])
    #expect(scenario.about == "Recorded: 1 attached, 1 fallback deadline.")
  }
}
