public import ArgumentParser
public import Attache

/// The budget of a payload, and how many are under way.
package struct TimingOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The budget of a payload, as 300ms, 2s or 1m.", valueName: "time"))
  package var deadline = DurationArgument(.seconds(30), as: "30s")

  @Option(
    help: ArgumentHelp(
      "How long before the deadline time expires, so that the line can be written. (default: 50ms, at most half the deadline)",
      valueName: "time"))
  package var grace: DurationArgument?

  @Option(help: ArgumentHelp("When time expires: original, or best-attempt (keep what is ready).", valueName: "choice"))
  package var onExpiry = MediaExtension.ExpiryChoice.original

  @Option(help: ArgumentHelp("Payloads undecided at a time.", valueName: "n"))
  package var jobs = 256

  @Option(help: ArgumentHelp("Media followed per payload, of the first 64 that it names.", valueName: "n"))
  package var maxAttachments = 10

  package init() {}

  /// The grace that was asked for, else 50 ms, but never more than half of a shorter deadline.
  package var effectiveGrace: Duration {
    grace?.duration ?? min(.milliseconds(50), deadline.duration / 2)
  }

  package func validate() throws {
    if let grace, grace.duration >= deadline.duration {
      throw ValidationError("--grace (\(grace)) must be shorter than --deadline (\(deadline)): nothing would be fetched.")
    }
    try CountArgument.check(jobs, "--jobs")
    try CountArgument.check(maxAttachments, "--max-attachments")
  }
}

extension MediaExtension.ExpiryChoice: ExpressibleByArgument {}
