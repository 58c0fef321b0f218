import ArgumentParser
import Attache
import AttacheArguments
import AttacheQueue
import Glibc
import Logging

/// `attache results`: writes the results of the payloads, one a line.
struct Results: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "results", abstract: "Write the results of a queue, in the order of its payloads.",
    discussion: """
      A payload without a result is skipped, unless --follow waits for it. A line without a line ending gets a line feed if another line follows it, and \
      always with --follow and --unread.

      With --unread, a line counts as delivered when it was written: it is not written again, and the store may delete its attachments. If the reader dies, the lines that it has not processed are \
      lost; attache deliver sends such lines again. A queue can have one --unread reader, and none while a \
      deliverer runs.
      """)

  @OptionGroup var queue: QueueOptions

  @Flag(help: "Wait for each payload in order, until SIGTERM, SIGINT or SIGHUP.")
  var follow = false

  @Flag(help: "Instead of the payloads, write one JSON object per line with the outcome of each; nothing counts as read.")
  var report = false

  @Flag(help: "Skip lines that were delivered or read before; each written line counts as delivered.")
  var unread = false

  func run() throws {
    if follow { StopSignals.block() }
    let log = LogFormat.text.logger()
    let opened = try queue.open(creates: false)
    defer { opened.close() }
    if unread, !report { try orExit(log) { () throws(QueueError) in try opened.shareDelivery(.reader) } }
    var options = ResultStream.Options()
    (options.writesRecords, options.follows, options.onlyUnread) = (report, follow, unread)
    let stream = try orExit(log, ExitStatus.software) { [options] in
      try ResultStream(opened, options, descriptor: STDOUT_FILENO)
    }
    // A second signal ends the process even when nobody reads the output.
    if follow {
      StopSignals.onEach({
        opened.stopWaiting()
        stream.stop()
      })
    }
    do throws(ResultStreamError) {
      _ = try stream.run()
    } catch {
      switch error {
      case .queue(let error):
        log.error("\(error)")
        throw ExitCode(error.exitStatus)
      case .output(let error):
        if error.number == EPIPE { BrokenPipe.endProcess() }
        log.error("standard output: \(SystemError.text(error.number))")
        throw ExitCode(ExitStatus.inputOutput)
      }
    }
  }
}
