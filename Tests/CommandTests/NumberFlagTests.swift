import Foundation
import Testing

/// Extreme numbers on the command line: each is refused with status 64 or works, and none traps.
@Suite(.timeLimit(.minutes(5)))
struct NumberFlagTests {
  private static let numbers = [
    "0", "-1", "9223372036854775807", "9223372036854775808", "1e308", String(repeating: "9", count: 400),
  ]

  /// The flags of each command that take a number, with the units to test; `N` stands for the
  /// number.
  private static let filterFlags: [(flag: String, forms: [String])] = [
    ("--deadline", ["Ns", "Nd"]), ("--grace", ["Nms", "Nd"]), ("--jobs", ["N"]), ("--window", ["N", "NTB"]), ("--store-max", ["N", "NTB"]),
    ("--store-age", ["Ns", "Nd"]), ("--max-payload", ["N", "NTB"]), ("--max-attachments", ["N"]), ("--retries", ["N"]),
    ("--per-host", ["N"]), ("--fetchers", ["N"]), ("--max-pixels", ["N"]), ("--max-side", ["N"]),
    ("--source-limits", ["N", "NTB"]), ("--max-source-pixels", ["N"]), ("--allow-port", ["N", "N-N"]),
    ("--limits", ["image=N", "video=NTB"]),
    ("--dns-server", ["127.0.0.1:N"]), ("--metrics", ["127.0.0.1:N"]),
  ]
  /// The flags that work only with another one.
  private static let companions = ["--max-side": ["--convert"], "--source-limits": ["--convert"], "--max-source-pixels": ["--convert"]]
  private static let queueFlags: [(command: String, flag: String, forms: [String])] = [
    ("enqueue", "--priority", ["N"]), ("enqueue", "--not-before", ["N", "+Nd"]), ("enqueue", "--expires-at", ["N", "+Nd"]),
    ("purge", "--older-than", ["Ns", "Nd"]), ("work", "--fetchers", ["N"]), ("work", "--attempts", ["N"]),
    ("work", "--poison-after", ["N"]),
    ("work", "--deadline", ["Nd"]), ("work", "--metrics", ["N"]),
  ]

  private static func values(_ forms: [String]) -> [String] {
    // And the largest accepted values.
    let largest = ["Nd": "36500d", "Ns": "3199999999s", "NTB": "8999999TB"]
    return forms.flatMap { form in
      numbers.map { form.replacing("N", with: $0) } + (largest[form].map { [$0] } ?? [])
    }
  }

  @Test(arguments: filterFlags)
  func `the filter refuses it or works`(flag: String, forms: [String]) async throws {
    let input = Sample.payload("https://192.0.2.1/a.png") + "\n"
    for value in Self.values(forms) {
      let run = try await AttacheTool().run(["\(flag)=\(value)"] + Self.companions[flag, default: []], input: input)
      switch run.exit {
      case .status(0): #expect(run.text == input, "\(value)")
      default:
        #expect(run.exit == .status(64), "\(value): \(run.errors)")
        #expect(run.errors.contains(flag), "\(value): \(run.errors)")
      }
    }
  }

  @Test(arguments: queueFlags)
  func `a command of the queue refuses it or works`(command: String, flag: String, forms: [String]) async throws {
    let queue = try QueueTool()
    _ = try await queue.run("enqueue")
    for value in Self.values(forms) {
      if command == "work" { _ = try await queue.run("enqueue", input: Sample.payload("https://192.0.2.1/a.png") + "\n") }
      let run = try await queue.run(command, ["\(flag)=\(value)"] + (command == "work" ? ["--once"] : []))
      #expect([.status(0), .status(64)].contains(run.exit), "\(value): \(run.exit) \(run.errors)")
      if run.exit != .status(0) { #expect(run.errors.contains(flag), "\(value): \(run.errors)") }
    }
  }

  @Test(
    .enabled(if: !Build.isSanitized, "a sanitizer reserves terabytes"), arguments: [90_000, 120_000, 150_000, 180_000, 240_000, 400_000])
  func `with too little memory attache ends with 70, and takes no valid line for an invalid one`(kilobytes: Int) async throws {
    let tool = try AttacheTool()
    let launch = Launch(
      path: "/bin/sh", arguments: ["-c", "ulimit -v $0 && exec \"$1\"", "\(kilobytes)", AttacheTool.folder + "/attache"],
      environment: tool.environment, folder: tool.home)
    let program = try Program(launch)
    program.input.write(Sample.plain + "\n")
    program.input.close()
    let run = await program.finished()
    switch run.exit {
    case .status(0): #expect(run.errors.contains("1 passthrough (payload.not-mutable 1), 0 invalid"))
    default:
      #expect(run.exit == .status(70), "\(run.errors)")
      #expect(run.output == [])
    }
  }
}
