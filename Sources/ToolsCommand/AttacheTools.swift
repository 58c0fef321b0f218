internal import ArgumentParser
internal import Attache
internal import AttacheArguments
internal import AttachePostgreSQL
internal import AttacheQueue
internal import Dispatch

/// The executable `attache-tools`: the subcommands of `attache` that need Foundation. The user sees
/// one command.
@main
struct AttacheTools: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "attache", abstract: "The subcommands of attache for queues, previews and rehearsals.", version: versionText,
    subcommands: [
      BatchCommand.self, Enqueue.self, Work.self, Deliver.self, Results.self, State.self, Retry.self, Cancel.self, Pause.self, Resume.self,
      Purge.self, PushCommand.self, Preview.self, RunScenarios.self, ExtensionTool.self, Record.self, Origin.self, ListFindings.self,
    ])

  static func main() {
    StandardDescriptors.prepare()
    QueueLocation.register(PostgreSQLAddress.self)
    var command = parsed()
    // Like the filter, while the process has one thread.
    if command is Record { AmbientEnvironment.removeUnsafeVariables() }
    if let command = command as? any AsyncParsableCommand { play(command) }
    // The commands of the queue fork while they have one thread.
    ProcessSQLite.leaveOutLocks()
    do { try command.run() } catch { exit(withError: error) }
  }

  /// Runs a command of the rehearsals, which play on several threads, and ends the process.
  private static func play(_ command: sending any AsyncParsableCommand) -> Never {
    DescriptorLimit.require(64)
    CommandThread.require(16)
    Task {
      var command = command
      do { try await command.run() } catch { exit(withError: error) }
      exit()
    }
    dispatchMain()
  }
}
