import Attache
import AttacheArguments
import AttacheQueue
import AttacheSenders

extension Deliver {
  /// What the deliverer does, in one line for the log. It has no password and no key: neither the
  /// arguments of a command nor what follows the host of a URL.
  var summary: String {
    let parts = [
      "\(jobs) unanswered at a time", "\(answerTimeout) for an answer", rate.map { "at most \($0)" } ?? "no limit on the rate",
      ordered ? "in the order enqueued" : nil,
    ]
    return "delivers \(queue.location.message) to \(receiver): \(parts.compactMap(\.self).joined(separator: "; "))"
  }

  private var receiver: String {
    if let url = http.http {
      let parts = URLDetail.short.text(of: UntrustedText(url)).split(separator: "/", omittingEmptySubsequences: false)
      return parts.prefix(3).joined(separator: "/")
    }
    if let folder { return "the folder \(PrintableText.of(folder))" }
    if let program = command.first { return "\(PrintableText.of(program))\(each ? ", once for each payload" : "")" }
    let endpoint = google.fcm ? google.endpoint : apple.endpoint
    return "\(endpoint.host), port \(endpoint.port)"
  }
}
