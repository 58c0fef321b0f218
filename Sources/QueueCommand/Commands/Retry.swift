import ArgumentParser
import Attache
import AttacheArguments
import AttacheQueue

/// `attache retry`: has payloads be worked again, or results be delivered again.
struct Retry: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "retry", abstract: "Have payloads that fell back be worked again, and those that ended their workers.",
    discussion: """
      Their results are forgotten; a worker takes them in the place they had, and their new results are delivered. With --delivery nothing is worked again: \
      results that a sender dropped, or that ended their senders, are delivered again.
      """)

  @OptionGroup var queue: QueueOptions

  @Option(
    help: ArgumentHelp("Only those with this reason, as http.status; attache reasons lists them.", valueName: "reason"),
    transform: { try Retry.reason($0) })
  var reason: Reason?

  @Flag(help: "Have results be delivered again that were dropped, or that ended their senders.")
  var delivery = false

  func validate() throws {
    if delivery, reason != nil { throw ValidationError("--reason is for what is worked again; leave --reason or --delivery out.") }
  }

  func run() throws {
    let opened = try queue.open(creates: false)
    defer { opened.close() }
    let count = try orExit { () throws(QueueError) in
      let count = try delivery ? opened.redeliver() : opened.retry(reason)
      try opened.sync()
      return count
    }
    ErrorOutput.write("attache: \(count) payload\(count == 1 ? " is" : "s are") to be \(delivery ? "delivered" : "worked") again\n")
  }

  private static func reason(_ text: String) throws -> Reason {
    if let reason = Reason(rawValue: text) { return reason }
    let nearest = Spelling.nearest(to: text, of: Reason.allCases.map(\.rawValue))
    throw ValidationError("there is no such reason; " + (nearest.map { "did you mean \($0)?" } ?? "`attache reasons` lists them"))
  }
}
