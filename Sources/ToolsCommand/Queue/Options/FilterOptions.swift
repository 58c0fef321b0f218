public import ArgumentParser
import Attache
import AttacheArguments
public import AttacheQueue

/// The flags that select payloads of a queue.
struct FilterOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The payload of this line: the first that was enqueued is 1.", valueName: "n"))
  var line: Int64?

  @Option(
    name: .customLong("state"),
    help: ArgumentHelp(
      "The payloads in this state: \(PayloadState.allCases.map(\.rawValue).joined(separator: ", ")) (\"done\": not delivered yet).",
      valueName: "state"))
  var states: [PayloadState] = []

  @Option(
    name: .customLong("reason"),
    help: ArgumentHelp("Those with this reason, such as http.status; `attache reasons` lists them.", valueName: "reason"),
    transform: { try FilterOptions.reason($0) })
  var reasons: [Reason] = []

  @Option(
    name: .customLong("answer"),
    help: ArgumentHelp("Those whose last answer or failed attempt contains this text, such as \"status 503\".", valueName: "text"))
  var answers: [String] = []

  @Option(
    name: .customLong("key"),
    help: ArgumentHelp("Those with this key (enqueue --dedupe and --key-path); given again, those with one of the keys.", valueName: "key"))
  var keys: [String] = []

  @Option(
    help: ArgumentHelp(
      "Those that were enqueued at this time or later: a span such as 2h, a date, or seconds since 1970.", valueName: "time"),
    transform: { try FilterOptions.moment($0) })
  var since: Duration?

  func validate() throws {
    guard Validation.isOn else { return }
    if answers.contains("") { throw ValidationError("--answer is empty.") }
    for (name, count) in [("--state", states.count), ("--reason", reasons.count), ("--answer", answers.count)] where count > 1 {
      throw ValidationError("\(name) is given \(count) times; run the command once for each.")
    }
    // Each key stands for up to three values.
    guard keys.count <= Self.maximumKeys else {
      throw ValidationError("--key is given \(keys.count) times; give at most \(Self.maximumKeys), then run the command again.")
    }
    if let line, line < 1 { throw ValidationError("--line must be at least 1.") }
  }

  private static let maximumKeys = 100

  /// The state; nil for any.
  var state: PayloadState? { states.first }

  /// The filter of these flags.
  func filter(_ scope: PayloadFilter.Scope) -> PayloadFilter {
    var filter = PayloadFilter(scope)
    (filter.line, filter.state, filter.reason, filter.answer, filter.since) = (line, state, reasons.first, answers.first, since)
    filter.keys = keys.isEmpty ? nil : keys.flatMap(PayloadKey.candidates)
    return filter
  }

  private static func reason(_ text: String) throws -> Reason {
    if let reason = Reason(rawValue: text) { return reason }
    let nearest = Spelling.nearest(to: text, of: Reason.allCases.map(\.rawValue))
    throw ValidationError("there is no such reason; " + (nearest.map { "did you mean \($0)?" } ?? "`attache reasons` lists them"))
  }

  /// A span is one before now.
  private static func moment(_ text: String) throws -> Duration {
    let now = SystemQueueClock().wall
    if let span = DurationArgument(argument: text) { return now - span.duration }
    guard let moment = try? MomentArgument.read(text.count == 10 && text.contains("-") ? text + "T00:00:00Z" : text), moment <= now else {
      throw ValidationError(
        "write a span before now such as 2h, a date that is past such as 2026-11-21 or 2026-11-21T18:00:00Z, or seconds since 1970")
    }
    return moment
  }
}

extension PayloadState: ExpressibleByArgument {}

/// The flag of commands that change what they select.
struct DryRunOption: ParsableArguments {
  @Flag(help: "Say how many payloads would be changed, and change none.")
  var dryRun = false

  /// Says how many payloads the filter selects, and then changes them.
  ///
  /// - Parameters:
  ///   - past: what was done to them, such as "cancelled".
  ///   - body: changes payloads by their numbers, and returns how many.
  func run(
    _ filter: PayloadFilter, of queue: any PayloadQueue, _ past: String, _ body: ([Int64]) throws(QueueError) -> Int
  ) throws {
    let change = PayloadChange(filter, of: queue)
    let count = try orExit { () throws(QueueError) in try change.count() }
    ErrorOutput.write("attache: \(count) payload\(count == 1 ? "" : "s") selected\(dryRun ? "; nothing is changed (--dry-run)" : "")\n")
    guard !dryRun, count > 0 else { return }
    let changed = try orExit { () throws(QueueError) in
      let changed = try change.run(body)
      try queue.sync()
      return changed
    }
    let rest = changed < count ? "; the others are held by a worker or a deliverer, or have changed: repeat the command" : ""
    ErrorOutput.write("attache: \(changed) payload\(changed == 1 ? "" : "s") \(past)\(rest)\n")
  }
}
