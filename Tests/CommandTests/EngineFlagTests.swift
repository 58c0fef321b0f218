import AttacheTesting
import Foundation
import Testing

/// The table of flags, which rehearsals and recordings use, and the flags that the commands have.
@Suite(.timeLimit(.minutes(1)))
struct EngineFlagTests {
  private struct Help: Decodable {
    var command: Command
  }

  private struct Command: Decodable {
    var commandName: String
    var arguments: [Argument]?
    var subcommands: [Command]?
  }

  private struct Argument: Decodable {
    struct Name: Decodable {
      var kind: String
      var name: String
    }

    var kind: String
    var names: [Name]?
    var valueName: String?

    /// The long name; nil for what is no flag, and for the flags of every command.
    var flag: String? {
      names?.first { $0.kind == "long" && !["help", "version"].contains($0.name) }.map { "--\($0.name)" }
    }
  }

  /// The flags that a command has, with the names of their values.
  private static func flags(of command: String, in executable: String) async throws -> [String: String?] {
    let launch = try Launch(
      path: "\(AttacheTool.folder)/\(executable)", arguments: ["--experimental-dump-help"], environment: AttacheTool().environment)
    let run = try await Program(launch).finished()
    let help = try JSONDecoder().decode(Help.self, from: Data(run.output))
    let arguments = try #require(help.command.subcommands?.first { $0.commandName == command }?.arguments)
    return Dictionary(
      uniqueKeysWithValues: arguments.compactMap { argument in
        argument.flag.map { ($0, argument.kind == "option" ? argument.valueName : nil) }
      })
  }

  /// The flags that a command has by the table.
  private static func rows(of commands: EngineFlag.Commands) -> [String: String?] {
    Dictionary(uniqueKeysWithValues: EngineFlag.all.filter { $0.commands.isSuperset(of: commands) }.map { ($0.name, $0.valueName) })
  }

  @Test(arguments: [("filter", "attache", EngineFlag.Commands.filter), ("record", "attache-tools", .record)])
  func `the table has each flag of the command, and no other`(command: String, executable: String, commands: EngineFlag.Commands)
    async throws
  {
    #expect(try await Self.flags(of: command, in: executable) == Self.rows(of: commands))
  }

  @Test func `the worker has the flags that the table gives it, and none that are the filter's alone`() async throws {
    let flags = try await Self.flags(of: "work", in: "attache-tools")
    let shared = flags.filter { EngineFlag.named($0.key) != nil }
    #expect(shared == Self.rows(of: .worker))
  }

  /// Wrong flags that a scenario file may contain.
  private static let mistakes =
    UsageTests.mistakes.filter { EngineFlag.named($0.flag)?.isAllowedInScenario == true }.map { ["\($0.flag)=\($0.value)"] }
    + [["--jobs"], ["--jobs", "--cache", "off"], ["--unordered=3"], ["--log-urls=none"], ["--window="]]

  @Test(arguments: mistakes)
  func `a scenario names a wrong flag in the words of the command line`(flags: [String]) async throws {
    let run = try await AttacheTool().start(flags).finished()
    let yaml = "payloads: [x]\nnetwork: isolated\nflags: [\(flags.map { "'\($0)'" }.joined(separator: ", "))]\n"
    let error = try #require(throws: ScenarioError.self) { try Scenario(yaml: yaml, file: "s.yaml") }
    let message = try #require(error.message.wholeMatch(of: /attache rejects its flags: (.*)/)).1
    #expect(run.errors.hasPrefix("Error: \(message)\n"), "\(message)\n\(run.errors)")
  }
}
