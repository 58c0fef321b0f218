import ArgumentParser
import AttacheArguments
import AttacheQueue

/// `attache retry`: requeues payloads, or delivers results again.
struct Retry: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "retry", abstract: "Requeue payloads that fell back, and payloads whose workers died, or deliver results again.",
    discussion: """
      The previous results are deleted. A worker processes the payloads in their previous order, and their new results are delivered. Without --line, \
      --state and --reason, these are the payloads that fell back, and those whose workers died. Without --state, none that were cancelled or expired. With --delivery, no payload is processed again; instead, \
      results that a sender dropped, whose senders died, or that timed out are delivered again, or those of another --state.
      """)

  @OptionGroup var queue: QueueOptions
  @OptionGroup(title: "Which payloads") var which: FilterOptions

  @Flag(help: "Deliver results again, instead of processing payloads again.")
  var delivery = false

  @OptionGroup var dry: DryRunOption

  func validate() throws {
    guard Validation.isOn else { return }
    let delivered: Set<PayloadState> = [.dropped, .expired, .timedOut, .cancelled, .dead]
    if let state = which.state {
      guard !delivery || delivered.contains(state) else {
        throw ValidationError(
          "--delivery takes --state dropped, expired, timed-out, cancelled or dead: the others have nothing to deliver again.")
      }
      guard ![.ready, .waiting, .leased].contains(state) else {
        throw ValidationError("a payload that is \(state.rawValue) has no result yet, so there is nothing to repeat.")
      }
    }
  }

  func run() throws {
    let opened = try queue.open(creates: false)
    defer { opened.close() }
    let filter = which.filter(delivery ? .redelivery : .retry)
    try dry.run(filter, of: opened, "requeued") { ids throws(QueueError) in
      try delivery ? opened.redeliver(ids) : opened.retry(ids)
    }
  }
}
