import ArgumentParser
import Attache
import AttacheArguments
import AttachePostgreSQL
import AttacheQueue

/// The executable `attache-queue`: the subcommands of `attache` that use a queue.
@main
struct QueueTool: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "attache", abstract: "The subcommands of attache that process a queue.", version: versionText,
    subcommands: [
      BatchCommand.self, Enqueue.self, Work.self, Deliver.self, Results.self, State.self, Retry.self, Purge.self, PushCommand.self,
    ])

  static func main() {
    StandardDescriptors.prepare()
    ProcessSQLite.leaveOutLocks()
    QueueLocation.register(PostgreSQLAddress.self)
    runParsed()
  }
}
