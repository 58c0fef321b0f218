import AttacheTesting
import Foundation
import Glibc
import Testing

/// What an untrusted scenario may not do: read files elsewhere, open the gates, or choose numbers
/// that end the rehearsal.
@Suite struct StrangersScenarioTests {
  /// `scenarios` with the scenario and its files, `media` beside it, and a file above both.
  private final class Folder {
    let path = FileManager.default.temporaryDirectory.path + "/strangers-\(UUID().uuidString)"

    init() throws {
      for name in ["scenarios/inner", "media"] {
        try FileManager.default.createDirectory(atPath: "\(path)/\(name)", withIntermediateDirectories: true)
      }
      for (name, text) in [
        "secret.bin": "s", "scenarios-secret.bin": "s", "scenarios/lines.ndjson": "b\nc\n", "scenarios/inner/own.bin": "o",
        "media/photo.bin": "m",
      ] { try Data(text.utf8).write(to: URL(filePath: "\(path)/\(name)")) }
      try link("scenarios/link.bin", to: "../secret.bin")
      try link("scenarios/up", to: "..")
      try link("media/link.bin", to: "/etc/hostname")
      try link("scenarios/to-media.bin", to: "../media/photo.bin")
      unsafe mkfifo("\(path)/scenarios/pipe.bin", 0o600)
    }

    deinit {
      try? FileManager.default.removeItem(atPath: path)
    }

    func link(_ name: String, to target: String) throws {
      try FileManager.default.createSymbolicLink(atPath: "\(path)/\(name)", withDestinationPath: target)
    }

    /// A scenario that sends a file.
    func sending(_ name: String) throws -> Scenario {
      try Scenario(yaml: "payloads: lines.ndjson\norigin: {/a: [send: '\(name)']}\n", file: "\(path)/scenarios/s.yaml")
    }
  }

  @Test(arguments: ["inner/own.bin", "media/photo.bin", "../media/photo.bin", "to-media.bin", "../scenarios/inner/own.bin"])
  func `a file in the scenario's folder or in the media beside it is read`(name: String) throws {
    let folder = try Folder()
    let scenario = try folder.sending(name)
    #expect(scenario.payloads == ["b", "c"])
    let byte = UInt8(ascii: name.contains("own") ? "o" : "m")
    #expect(scenario.origins["origin"]?.paths["/a"]?.responses == [[OriginStep(.send(Medium(name: name, bytes: [byte]), count: nil))]])
  }

  @Test(arguments: [
    "/etc/hostname", "../secret.bin", "link.bin", "up/secret.bin", "media/link.bin", "media/../secret.bin",
    "../../../../../../etc/hostname",
    "/proc/self/environ", "../scenarios-secret.bin",
  ])
  func `a file elsewhere is refused, however it is named`(name: String) throws {
    let folder = try Folder()
    let error = #expect(throws: ScenarioError.self) { try folder.sending(name) }
    #expect(error?.field == "origin./a[0].send" && error?.line == 2 && error?.column == 21)
    #expect(
      error?.message.hasPrefix("\(name) is outside the scenario's folder; a scenario may name files in") == true,
      "\(String(describing: error))")
  }

  @Test func `a link in the place of the folder media leads nowhere`() throws {
    let folder = try Folder()
    try FileManager.default.moveItem(atPath: folder.path + "/media", toPath: folder.path + "/other")
    try folder.link("media", to: "other")
    #expect(throws: ScenarioError.self) { try folder.sending("media/photo.bin") }
  }

  @Test(arguments: [
    ("pipe.bin", "is not a regular file"), ("inner", "is not a regular file"), ("secret.bin", "there is no file secret.bin in"),
  ])
  func `what is no file of the scenario is named`(name: String, message: String) throws {
    let folder = try Folder()
    let error = #expect(throws: ScenarioError.self) { try folder.sending(name) }
    #expect(error?.message.contains(message) == true, "\(String(describing: error))")
    #expect(throws: ScenarioError.self) { try Scenario(yaml: "payloads: \(name)", file: "\(folder.path)/scenarios/s.yaml") }
  }

  @Test(arguments: [
    "--dialects mine.json", "--dialects=/etc/hostname", "--store /tmp/x", "--report=/tmp/x", "--cacert /etc/hostname",
    "--header-file /etc/hostname",
    "--dns-server 8.8.8.8:53",
    "--nonsense", "--allow-net 0.0.0.0/0", "--allow-net 10.0.0.0/8", "--allow-net=127.0.0.0/7", "--allow-net ::/0",
    "--allow-net 169.254.0.0/16",
    "--allow-port 443-8443", "--proxy http://8.8.8.8:3128", "--proxy http://proxy.example:3128", "--jobs 9223372036854775807",
    "--per-host 4000000000000000000", "--help", "-h", "--version",
  ])
  func `a flag that names a file or leads out of loopback is refused`(flags: String) throws {
    let error = #expect(throws: ScenarioError.self) { try Scenario(yaml: "payloads: [x]\nflags: \(flags)\n", file: "s.yaml") }
    #expect(error?.field == "flags" && error?.line == 2, "\(String(describing: error))")
    let name = flags.prefix { $0 != " " && $0 != "=" }
    #expect(error?.message.contains(name) == true, "\(String(describing: error))")
  }

  @Test(arguments: [
    "--allow-net 127.0.0.0/8", "--allow-net 169.254.169.0/24", "--proxy {{origin}}", "--jobs 1 --unordered", "--allow-host=*.example",
    "--media-key data.image --output-key media --cache off", "--limits image=1KB --retries 0",
    "--user-agent push.example",
  ])
  func `other flags of attache are taken`(flags: String) throws {
    let scenario = try Scenario(yaml: "payloads: [x]\norigin: {/a: []}\nflags: '\(flags)'\n", file: "s.yaml")
    #expect(scenario.flags.joined(separator: " ") == flags)
  }

  @Test(arguments: ["--allow-net 0.0.0.0/0", "--allow-port 8443", "--proxy http://8.8.8.8:3128"])
  func `in a network of its own a scenario may lead anywhere`(flags: String) throws {
    #expect(try !Scenario(yaml: "payloads: [x]\nnetwork: isolated\nflags: \(flags)\n", file: "s.yaml").flags.isEmpty)
  }

  @Test(arguments: [
    ("deadline: 25h", "deadline: 25h is too long; a time in a scenario is at most 24h"),
    ("origin: {/a: [{at: 30000d, do: stall}]}", "30000d is too long"),
    ("dns: {a: {after: 3000000000s, answer: fail}}", "is too long"),
    ("disk: full after 8000PB", "write `full after 10KB`"),
    ("disk: full after 8000000TB", "is too large; a disk has at most 1TB"),
    ("expect: {memory: 2TB}", "2TB is too large; a size in a scenario is at most 1TB"),
    ("expect: {connections: 9223372036854775807}", "expected a whole number from 0 to 1000000000"),
    ("origin: {/a: []}\nexpect: {requests: {/a: 1000000001}}", "expected a whole number from 0 to 1000000000"),
    ("origin: {/a: [length: -9223372036854775808]}", "a number is at most 1000000000000"),
    ("origin: {/a: [length: +9223372036854775807]}", "a number is at most 1000000000000"),
    ("origin: {/a: [send: 9223372036854775807 bytes of stand-in-100.jpg]}", "write `N bytes of FILE`"),
    ("origin: {/a: [send: 8000000000000000000 bytes of stand-in-100.jpg]}", "has 100 bytes"),
    ("origin: {/a: [{repeat: 1000001, text: x}]}", "a number from 1 to 1000000"),
    ("origin: {/a: [{repeat: 1000000, send: stand-in-200000.jpg}]}", "up to here the response has more than 1000000000 bytes"),
    ("origin: {/a: [{repeat: 1000000, header: 'X: {{pad 60000000}}'}]}", "up to here the response has more than"),
    ("origin: {/a: [send: stand-in-9223372036854775807.jpg]}", "a stand-in has at most 250000000 bytes"),
    ("flags: ['--media-key', '{{pad -5}}']", "{{pad -5}} is not known"),
    ("flags: ['--media-key', '{{pad 99999999999}}']", "is not known"),
  ])
  func `a number that is too large is refused with the bound`(field: String, message: String) throws {
    let error = #expect(throws: ScenarioError.self) { try Scenario(yaml: "payloads: [x]\n\(field)\n", file: "s.yaml") }
    #expect(error?.description.contains(message) == true, "\(String(describing: error))")
  }

  @Test func `payloads are bounded in number and in size`() throws {
    let (many, long) = (#"[{line: x, times: 1000000}, y]"#, #"[{line: '{{pad 60000000}}', times: 100}]"#)
    for (payloads, message) in [(many, "at most 1000000 payloads"), (long, "more than 1000000000 bytes together")] {
      let error = #expect(throws: ScenarioError.self) { try Scenario(yaml: "payloads: \(payloads)", file: "s.yaml") }
      #expect(error?.description.contains(message) == true, "\(String(describing: error))")
    }
  }

  @Test func `aliases of aliases do not grow without bound`() throws {
    var yaml = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    for level in 1...9 {
      yaml += "a\(level): &a\(level) [\(Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ", "))]\n"
    }
    let error = #expect(throws: ScenarioError.self) { try Scenario(yaml: yaml + "payloads: *a9\n", file: "s.yaml") }
    #expect(error?.message.contains("more than 4000000 values") == true)
  }

  @Test func `the longest times are played, on a stretched clock too`() async throws {
    let yaml = "payloads: [{line: '{}', times: 3}]\ndeadline: 24h\nexpect: {outcome: passthrough, lateness: 24h}\n"
    let scenario = try Scenario(yaml: yaml, file: "s.yaml")
    let result = await ScenarioRunner(clock: .virtual, timeScale: 1_000).run(scenario)
    #expect(result.findings.isEmpty, "\(result.findings)")
  }

  @Test func `what a stranger writes does nothing to a terminal`() throws {
    let error = #expect(throws: ScenarioError.self) { try Scenario(yaml: "payloads: [x]\ndeadline: \"\\e[2J\\u202E1s\"\n", file: "s.yaml") }
    #expect(error?.description.contains("“\\u{1b}[2J\\u{202e}1s”") == true, "\(String(describing: error))")
  }

  @Test(arguments: ["https://8.8.8.8/a.jpg", "http://1.1.1.1:80/a.jpg", "https://photo.example/a.jpg"])
  func `the engine connects to nothing but loopback`(url: String) async throws {
    let scenario = try Scenario(
      yaml: #"""
        payloads: ['{"aps":{"alert":"Hi","mutable-content":1},"image":"\#(url)"}']
        dns: {photo.example: 93.184.215.14}
        flags: --retries 0
        expect: {outcome: fallback, reason: internal}
        """#, file: "s.yaml")
    let result = await ScenarioRunner(clock: .real).run(scenario)
    #expect(result.findings.map(\.kind) == [.stage])
    #expect(result.findings.first?.message.contains("but its network is loopback: nothing was sent there") == true, "\(result.findings)")
  }
}
