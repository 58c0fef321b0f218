import ArgumentParser
import Attache
import AttacheArguments
import AttacheQueue

/// `attache retry`: requeues payloads, or delivers results again.
struct Retry: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "retry", abstract: "Requeue payloads that fell back, and payloads whose workers died.",
    discussion: """
      The previous results are deleted. A worker processes the payloads in their previous order, and their new results are delivered. With --delivery, \
      no payload is processed again; instead, results that a sender dropped, or whose senders died, are delivered again.
      """)

  @OptionGroup var queue: QueueOptions

  @Option(
    help: ArgumentHelp(
      "The payloads with this reason, such as http.status, or payload.unread-media, which passed; attache reasons lists them.",
      valueName: "reason"),
    transform: { try Retry.reason($0) })
  var reason: Reason?

  @Flag(help: "Redeliver results that were dropped, or that ended their senders.")
  var delivery = false

  func validate() throws {
    guard Validation.isOn else { return }
    if delivery, reason != nil { throw ValidationError("--reason selects payloads to process again; remove --reason or --delivery.") }
  }

  func run() throws {
    let opened = try queue.open(creates: false)
    defer { opened.close() }
    let count = try orExit { () throws(QueueError) in
      let count = try delivery ? opened.redeliver() : opened.retry(reason)
      try opened.sync()
      return count
    }
    ErrorOutput.write("attache: \(count) payload\(count == 1 ? " is" : "s are") to be \(delivery ? "delivered" : "processed") again\n")
  }

  private static func reason(_ text: String) throws -> Reason {
    if let reason = Reason(rawValue: text) { return reason }
    let nearest = Spelling.nearest(to: text, of: Reason.allCases.map(\.rawValue))
    throw ValidationError("there is no such reason; " + (nearest.map { "did you mean \($0)?" } ?? "`attache reasons` lists them"))
  }
}
