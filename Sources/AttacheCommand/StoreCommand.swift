import ArgumentParser
import Attache
import AttacheArguments

/// `attache store`: maintains the folder of attachments by hand.
struct StoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "store", abstract: "Manage the folder of attachments.", subcommands: [Prune.self])

  /// `attache store prune`: removes at once what the filter would remove.
  struct Prune: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Remove attachments that are too old, and the least recently used ones if the store is too large. Those in flight stay.")

    @OptionGroup var store: StoreOptions

    func run() throws {
      let pruned = try orExit(LogFormat.text.logger(), ExitStatus.cannotCreate) {
        try AttachmentStore.checkReach(to: store.configuration.directory, reading: [])
        return try AttachmentStore(toPrune: store.configuration).prune()
      }
      guard let summary = pruned else {
        ErrorOutput.write("attache: another process is pruning this store\n")
        return
      }
      try StandardOutput.write(
        "removed \(summary.filesRemoved) files (\(summary.bytesRemoved) bytes), "
          + "kept \(summary.filesKept) files (\(summary.bytesKept) bytes)\n")
    }
  }
}
