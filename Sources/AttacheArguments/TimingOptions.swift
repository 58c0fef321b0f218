public import ArgumentParser
public import Attache

/// The flags for the time budget of a payload and for the number of payloads in progress.
package struct TimingOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The time limit for each payload, such as 300ms, 2s or 1m.", valueName: "time"))
  package var deadline = DurationArgument(.seconds(30), as: "30s")

  @Option(
    help: ArgumentHelp(
      "The time before the deadline that is kept for writing the line. (default: 50ms, at most half the deadline)",
      valueName: "time"))
  package var grace: DurationArgument?

  @Option(
    help: ArgumentHelp("What to write when time runs out: original, or best-attempt (with the media that are ready).", valueName: "choice"))
  package var onExpiry = MediaExtension.ExpiryChoice.original

  @Option(help: ArgumentHelp("The number of payloads in progress at a time.", valueName: "n"))
  package var jobs = 256

  @Option(help: ArgumentHelp("The number of media to fetch for each payload, of the first 64 that it names.", valueName: "n"))
  package var maxAttachments = 10

  package init() {}

  package func validate() throws {
    guard Validation.isOn else { return }
    if let grace, grace.duration >= deadline.duration {
      throw ValidationError("--grace (\(grace)) must be shorter than --deadline (\(deadline)): nothing would be fetched.")
    }
    try CountArgument.check(jobs, "--jobs")
    try CountArgument.check(maxAttachments, "--max-attachments")
  }
}

extension MediaExtension.ExpiryChoice: ExpressibleByArgument {}
