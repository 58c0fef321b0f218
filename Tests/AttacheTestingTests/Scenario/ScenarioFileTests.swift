import Attache
import AttacheTesting
import Foundation
import Testing

@Suite struct ScenarioFileTests {
  private static let everything = #"""
    about: What happens.
    payloads:
      - '{"image":"{{origin}}/a.jpg"}'
      - {line: '{"n":{{n}},"image":"http://Photo.example:{{other.port}}/b","x":"{{pad 20}}"}', times: 3}
    last-line-feed: false
    network: isolated-ipv4
    etc: {hosts: '10.1.1.1 evil', resolv.conf: "search example\n"}
    origin:
      tls: wrong-host
      http2: false
      /a.jpg:
        first:
          - status: 503
          - header: 'Retry-After: 1'
        then:
          - {repeat: 3, header: 'X: y'}
          - length: +10
          - send: 100 bytes of stand-in-2000.jpg
          - at: 250ms
            send: stand-in-2000.jpg
          - at: 1s
            do: stall
      /b:
        - redirect: '{{other}}/c'
    origins:
      other:
        listen: '[2606:4700::1]:8443'
        names: ['*.example', 8.8.8.8]
        /c:
          - length: chunked
          - {repeat: forever, every: 100ms, text: x}
        /d: [{raw: SSH-2.0}, {repeat: 2, hex: 'ff 00'}, stall]
        /e: [reset]
        /f: [goaway]
      gone: {connection: refused, listen: 8.8.8.8}
      at-a-port: {listen: 81, names: a.example}
    dns:
      Photo.example: 127.0.0.1
      two.example: [127.0.0.1, '::1']
      none.example: none
      later.example: {after: 200ms, answer: fail}
      moving.example: {first: 127.0.0.1, then: stall}
      alias.example: {alias: [b.example, C.example], address: ['::1', 127.0.0.1]}
      many.example: {after: 1s, ttl: 0, answer: {count: 2, from: 93.184.0.255, and: 10.0.0.1}}
      empty.example: nodata
      self.example: loop
      long.example: truncated
    disk: full after 10KB
    deadline: 500ms
    grace: 100ms
    flags: --jobs 1 --allow-port {{other.port}}
    extension: empties-alert
    cancel: 200ms
    clock: real
    expect:
      payloads:
        - {outcome: attached, attachments: [{type: public.jpeg, size: 2KB}], media: [null, http.status]}
        - {outcome: fallback, reason: deadline}
        - {outcome: passthrough}
        - {}
      requests: {/a.jpg: 2, other/c: 1}
      fields: [host]
      connections: 2
      names: 3
      lateness: 10ms
      memory: 64MB
      descriptors: 100
      exit: 75
    """#

  @Test func `a step ends the process that sent the request`() throws {
    let scenario = try Scenario(yaml: "payloads: [x]\norigin: {/a: [fetcher-dies], /b: [{at: 1s, do: fetcher-hangs}]}\n", file: "s.yaml")
    let paths = try #require(scenario.origins["origin"]).paths
    #expect(paths["/a"] == PathScript(responses: [[OriginStep(.fetcher(.death))]]))
    #expect(paths["/b"] == PathScript(responses: [[OriginStep(.fetcher(.hang), at: .seconds(1))]]))
  }

  @Test func `everything that a scenario can say is read`() throws {
    let scenario = try Scenario(
      yaml: Self.everything, file: "folder/what-happens.yaml")
    #expect(scenario.name == "what-happens")
    #expect(scenario.payloads.count == 4)
    #expect(!scenario.endsWithLineFeed)
    let origin = try #require(scenario.origins["origin"])
    #expect(origin.tls == .wrongHost && !origin.offersHTTP2)
    let photo = Medium(name: "stand-in-2000.jpg", bytes: try #require(try StandIn.bytes(named: "stand-in-2000.jpg")))
    #expect(
      origin.paths["/a.jpg"]?.responses == [
        [OriginStep(.status(503)), OriginStep(.header(name: "Retry-After", value: "1"))],
        [
          OriginStep(.header(name: "X", value: "y"), repetition: .times(3)), OriginStep(.length(.offBy(10))),
          OriginStep(.send(photo, count: 100)), OriginStep(.send(photo, count: nil), at: .milliseconds(250)),
          OriginStep(.stall, at: .seconds(1)),
        ],
      ])
    #expect(origin.paths["/b"]?.responses == [[OriginStep(.redirect("{{other}}/c"))]])
    #expect(
      scenario.origins["other"]?.paths == [
        "/c": PathScript(responses: [
          [OriginStep(.length(.chunked)), OriginStep(.text("x"), repetition: .forever, every: .milliseconds(100))]
        ]),
        "/d": PathScript(responses: [
          [OriginStep(.raw("SSH-2.0")), OriginStep(.hex([0xFF, 0]), repetition: .times(2)), OriginStep(.stall)]
        ]),
        "/e": PathScript(responses: [[OriginStep(.reset)]]), "/f": PathScript(responses: [[OriginStep(.goAway)]]),
      ])
    #expect(scenario.origins["gone"]?.connection == .refused)
    let here = try #require(IPAddress("127.0.0.1"))
    #expect(scenario.names["photo.example"] == NameScript([.init(.addresses([here]))]))
    #expect(scenario.names["two.example"] == NameScript([.init(.addresses([here, .v6(1)]))]))
    #expect(scenario.names["none.example"] == NameScript([.init(.none)]))
    #expect(scenario.names["later.example"] == NameScript([.init(.failure, delay: .milliseconds(200))]))
    #expect(scenario.names["moving.example"] == NameScript([.init(.addresses([here])), .init(.stall)]))
    #expect(scenario.names["alias.example"] == NameScript([.init(.aliases(["b.example", "c.example"], [.v6(1), here]))]))
    let many: [IPAddress] = [.v4(0x5DB8_00FF), .v4(0x5DB8_0100), .v4(0x0A00_0001)]
    #expect(scenario.names["many.example"] == NameScript([.init(.addresses(many), delay: .seconds(1), timeToLive: 0)]))
    let others = ["empty.example", "self.example", "long.example"].map { scenario.names[$0]?.turns.map(\.answer) }
    #expect(others == [[.noData], [.loop], [.truncated]])
    #expect(scenario.network == .isolatedIPv4 && scenario.files == ["hosts": "10.1.1.1 evil", "resolv.conf": "search example\n"])
    #expect(scenario.origins["other"]?.listening == .init(address: .v6(0x2606_4700 << 96 | 1), port: 8443))
    #expect(scenario.origins["other"]?.certificateNames == ["*.example", "8.8.8.8"])
    #expect(scenario.origins["gone"]?.listening == .init(address: .v4(0x0808_0808)))
    #expect(scenario.origins["at-a-port"]?.listening == .init(port: 81))
    #expect(scenario.disk == .full(afterBytes: 10_000))
    #expect(scenario.deadline == .milliseconds(500) && scenario.grace == .milliseconds(100))
    #expect(scenario.flags == ["--jobs", "1", "--allow-port", "{{other.port}}"])
    #expect(scenario.serviceExtension == .emptiesAlert)
    #expect(scenario.stop == StopScript(at: .milliseconds(200), isCancellation: true) && scenario.isReal)
    #expect(
      scenario.expectation.payloads == [
        .init(outcome: .attached, attachments: [.init(type: "public.jpeg", size: 2_000)], media: [nil, .httpStatus]),
        .init(outcome: .fallback, reason: .deadline), .init(outcome: .passthrough), .init(),
      ])
    #expect(scenario.expectation.requests == ["/a.jpg": 2, "other/c": 1])
    #expect(scenario.expectation.connections == 2 && scenario.expectation.names == 3)
    #expect(scenario.expectation.lateness == .milliseconds(10))
    #expect(scenario.expectation.memory == 64_000_000 && scenario.expectation.descriptors == 100)
    #expect(scenario.expectation.exitStatus == 75)
  }

  @Test(arguments: [
    ("payloads: []", "s.yaml:1:11: payloads: the list is empty"),
    ("about: x", "s.yaml:1:1: there are no payloads"),
    ("- x", "s.yaml:1:1: a scenario has names"),
    ("payloads: [x]\npayloads: [y]", "payloads: this name occurs twice"),
    ("payloads: [x", "this is not YAML"),
    ("payloads: [x]\nblah: 1", "s.yaml:2:1: blah: there is no such field here; write one of about"),
    ("payloads: [{a: 1}]", "payloads[0].a: there is no such field here; write one of line, times"),
    ("payloads: [[x]]", "payloads[0]: a payload is a text"),
    ("payloads: [\"a\\nb\"]", "a payload is one line"),
    ("payloads: none.ndjson", "there is no file none.ndjson"),
    ("payloads: ['{{where}}']", "payload 1: {{where}} is not known"),
    ("payloads: [x]\ndeadline: soon", "s.yaml:2:11: deadline: expected a time such as 250ms"),
    ("payloads: [x]\ndeadline: 1s\ngrace: 1s", "grace: the grace must be shorter than the deadline"),
    ("payloads: [x]\nflags: --jobs none", "flags: attache rejects its flags: "),
    ("payloads: [x]\nflags: --jobs 4 a b", "flags: attache rejects its flags: 2 unexpected arguments: 'a', 'b'"),
    ("payloads: [x]\nflags: --store /tmp", "--store is not allowed in flags"),
    ("payloads: [x]\nextension: evil", "“evil” is not known here; write one of media, blocks"),
    ("payloads: [x]\nstop: 1s\ncancel: 1s", "stop and cancel cannot be combined"),
    ("payloads: [x]\nnetwork: wide", "“wide” is not known here; write one of loopback, isolated"),
    ("payloads: [x]\netc: {hosts: x}", "write `network: isolated`"),
    ("payloads: [x]\norigin: {listen: 80}", "write `network: isolated`"),
    ("payloads: [x]\nnetwork: isolated\norigin: {/a: [fetcher-dies]}", "visible only on loopback"),
    ("payloads: [x]\norigin: {/a: [fetcher-dies, stall]}", "nothing can follow"),
    ("payloads: [x]\nnetwork: isolated\norigin: {listen: here}", "an origin listens on a port, an address or both"),
    ("payloads: [x]\ndns: {a: {count: 2}}", "write many addresses as"),
    ("payloads: [x]\nclock: virtual", "write `real`, or remove the field: without it, the scenario runs on both clocks"),
    ("payloads: [x]\ndisk: wet", "write `full after 10KB` or `read-only`"),
    ("payloads: [x]\ndns: {a: 1.2.3}", "dns.a: “1.2.3” is not an address"),
    ("payloads: [x]\ndns: {a: {first: none}}", "dns.a: `then:` is missing"),
    ("payloads: [x]\norigin: {tls: maybe}", "origin.tls: “maybe” is not known here; write one of good"),
    ("payloads: [x]\norigin: {colour: red}", "origin.colour: there is no such field here; write one of tls"),
    ("payloads: [x]\norigin: {connection: reset, /a: [stall]}", "remove its paths"),
    ("payloads: [x]\norigins: {n: {}}", "origins.n: this name is taken"),
    ("payloads: [x]\norigin: {/a: [redirect: '{{b}}']}", "redirect: {{b}} is not known"),
    ("payloads: [x]\norigin: {/a: [explode]}", "origin./a[0]: “explode” is not known here"),
    ("payloads: [x]\norigin: {/a: [{status: 200, text: x}]}", "origin./a[0]: a step has exactly one action"),
    ("payloads: [x]\norigin: {/a: [status: 100]}", "origin./a[0].status: a status is a number from 200"),
    ("payloads: [x]\norigin: {/a: [header: x]}", "write a header as 'Name: value'"),
    ("payloads: [x]\norigin: {/a: [length: long]}", "a length is a number, +N or -N"),
    ("payloads: [x]\norigin: {/a: [send: none.jpg]}", "there is no file none.jpg"),
    ("payloads: [x]\norigin: {/a: [send: stand-in-5.jpg]}", "a stand-in of type jpg has at least 37 bytes"),
    ("payloads: [x]\norigin: {/a: [send: stand-in-5.exe]}", "there is no stand-in of type exe"),
    ("payloads: [x]\norigin: {/a: [send: stand-in-99999999999.jpg]}", "a stand-in has at most 250000000 bytes"),
    ("payloads: [x]\norigin: {/a: [send: 30KB bytes of stand-in-20000.jpg]}", "stand-in-20000.jpg has 20000 bytes"),
    ("payloads: [x]\norigin: {/a: [status: 200, status: 404]}", "the response already has a status"),
    ("payloads: [x]\norigin: {/a: [send: no bytes of x]}", "write `N bytes of FILE`"),
    ("payloads: [x]\norigin: {/a: [stall, text: x]}", "origin./a[1]: nothing can follow stall"),
    ("payloads: [x]\norigin: {/a: [{repeat: forever, header: 'X: y'}, text: x]}", "origin./a[1]: nothing can follow stall"),
    ("payloads: [x]\norigin: {/a: [{repeat: forever, header: 'X: y'}, status: 500]}", "origin./a[1]: nothing can follow stall"),
    ("payloads: [x]\norigin: {/a: [text: x, status: 500]}", "the header has already been sent"),
    ("payloads: [x]\norigin: {/a: [text: x, raw: x]}", "raw replaces HTTP"),
    ("payloads: [x]\norigin: {/a: [raw: x, header: 'X: y']}", "the header has already been sent"),
    ("payloads: [x]\norigin: {/a: [hex: f]}", "write bytes as pairs of hexadecimal digits"),
    ("payloads: [x]\norigin: {/a: [{at: 2s, text: x}, {at: 1s, text: x}]}", "cannot be earlier than the step before"),
    ("payloads: [x]\norigin: {/a: [{every: 2s, text: x}]}", "`every` needs `repeat`"),
    ("payloads: [x]\norigin: {/a: [{repeat: 2, do: stall}]}", "only send, text, hex, raw and header can repeat"),
    ("payloads: [x]\nexpect: {outcome: lost}", "expect.outcome: “lost” is not known here; write one of attached"),
    ("payloads: [x]\nexpect: {outcome: fallback}", "a fallback has a reason"),
    ("payloads: [x]\nexpect: {reason: bad.luck}", "“bad.luck” is not a reason code"),
    ("payloads: [x]\nexpect: {payloads: [{}, {}]}", "there are 1 payloads but 2 expectations"),
    ("payloads: [x]\nexpect: {payloads: [{}], outcome: attached}", "it is also in `payloads`"),
    ("payloads: [x]\nexpect: {requests: {/a: 1}}", "no origin serves it"),
    ("payloads: [x]\nexpect: {attachments: [{type: jpeg}]}", "“jpeg” is not one of public.jpeg"),
    ("payloads: [x]\nexpect: {exit: 300}", "an exit status is a number from 0 to 255"),
    ("payloads: [x]\nexpect: {memory: much}", "expected a size such as 512"),
  ])
  func `a mistake is named with its place and what to write`(yaml: String, message: String) throws {
    let error = #expect(throws: ScenarioError.self) { try Scenario(yaml: yaml, file: "s.yaml") }
    let text = try #require(error).description
    #expect(text.contains(message), "\(text)")
    #expect(text.hasPrefix("s.yaml:"))
  }

  @Test func `a scenario that is written is read back to the same`() throws {
    let scenario = try Scenario(yaml: Self.everything, file: "folder/what-happens.yaml")
    #expect(try Scenario(yaml: scenario.yaml(), file: "folder/what-happens.yaml") == scenario)
  }

  @Test(arguments: [#"it's "quoted" — {a: b}, [c] # d\n"#, "null", "12", "a: b", " x ", "- y", "…", "tab\tand\u{7f}"])
  func `a payload is written so that it is read as it is`(line: String) throws {
    let scenario = Scenario(name: "s", file: "s.yaml", about: "null", payloads: [line, line, "z"])
    #expect(try Scenario(yaml: scenario.yaml(), file: "s.yaml") == scenario)
  }

  @Test func `a file that is not there is an error without a line`() {
    #expect(throws: ScenarioError(file: "/nonexistent.yaml", message: "the file cannot be read; check its name and its permissions")) {
      try Scenario(contentsOfFile: "/nonexistent.yaml")
    }
  }

  @Test func `braces of JSON are no placeholders`() throws {
    let line = #"{"a":{"b":{{"c":1}}},"d":"{{n}}"}"#
    #expect(try Scenario(yaml: "payloads: ['\(line)']", file: "s.yaml").payloads == [line])
  }
}
