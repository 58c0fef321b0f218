import ArgumentParser
import Attache
import AttacheArguments
import Glibc

/// `attache store`: maintains the folder of attachments by hand.
struct StoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "store", abstract: "Manage the folder of attachments.", subcommands: [Prune.self])

  /// `attache store prune`: removes at once what the filter would remove.
  struct Prune: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Remove attachments that are too old, and the least recently used ones if the store is too large. Those in flight stay.")

    @OptionGroup var storage: StoreOptions

    func run() throws {
      let log = LogFormat.text.logger()
      let store = try orExit(log, ExitStatus.cannotCreate) { try opened() }
      try orExit(log, ExitStatus.unavailable) {
        if store == nil {
          throw StartError(
            "\(PrintableText.of(storage.configuration.directory)): there is no such store; the first filter or worker with it creates one")
        }
      }
      guard let summary = try orExit(log, ExitStatus.cannotCreate, { try store?.prune() }) else {
        ErrorOutput.write("attache: another process is pruning this store\n")
        return
      }
      try StandardOutput.write(
        "removed \(summary.filesRemoved) files (\(summary.bytesRemoved) bytes), "
          + "kept \(summary.filesKept) files (\(summary.bytesKept) bytes)\n")
    }

    /// Opens the store; nil if it does not exist.
    private func opened() throws -> AttachmentStore? {
      let configuration = storage.configuration
      try AttachmentStore.checkReach(to: configuration.directory, reading: [])
      do throws(StoreError) {
        return try AttachmentStore(toPrune: configuration)
      } catch  where error.call.code == ENOENT {
        return nil
      }
    }
  }
}
