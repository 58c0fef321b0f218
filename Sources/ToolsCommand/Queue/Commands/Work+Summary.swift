import Attache
import AttacheArguments
import AttacheQueue

extension Work {
  /// What the worker does, in one line for the log. It has no password and no key.
  var summary: String {
    let (timing, fetching) = (options.timing, options.fetching)
    let parts = [
      "\(timing.jobs) payloads at a time", "\(timing.deadline) and \(options.attempts) attempts for each",
      "\(fetching.perHost) requests at a time to an origin", "files up to \(fetching.limits) bytes",
      options.upload.upload.map { "uploads to \(PrintableText.of($0))" } ?? "no uploads",
    ]
    return "works on \(queue.location.message): \(parts.joined(separator: "; "))"
  }
}
