package import Attache

/// The observations of one run of a scenario, which the checks judge.
package struct Evidence: Sendable {
  /// The lines of input as written to the filter, with placeholders filled in and without line
  /// endings.
  package var input: [[UInt8]]
  /// Whether the last line of the input had a line ending.
  package var endsWithLineFeed: Bool
  /// The place in a line where the filter's flags put attache's member.
  package var place = OutputPlace()
  /// Whether the filter's flags require the input's order.
  package var isOrdered = true
  /// All bytes that the filter wrote.
  package var output: [UInt8] = []
  /// The arrival time of each line of output, counted from the moment when the payloads were
  /// written; empty when it was not measured.
  package var arrivals: [Duration] = []
  /// The report's records in the order of the file; nil when there is no report.
  package var report: [ReportedLine]?
  /// The reason why the report could not be read.
  package var reportError: ReportError?
  /// The number of requests that reached each path, by `PATH`, or `NAME/PATH` for an origin with a
  /// name other than `origin`.
  package var requests: [String: Int] = [:]
  /// The names of the fields that the requests had, in lower case.
  package var fields: Set<String> = []
  /// The number of connections that all origins together accepted. In the scenario's own network,
  /// it counts all attempts.
  package var connections = 0
  /// The destinations of the connection attempts in the scenario's own network.
  package var destinations: [String] = []
  /// The names that the name server was asked for.
  package var namesAsked: Set<String> = []
  /// The events in order of time.
  package var timeline: [TimelineEvent] = []
  /// The files that the output names, by URL, as found in the store at the end.
  package var files: [String: FoundFile] = [:]
  /// The peak growth of the resident set, in bytes; nil when it was not measured.
  package var memory: Int?
  /// The peak number of additional open descriptors during the run; nil when they were not counted.
  package var descriptors: Int?
  /// The exit status, as the tool would return it; nil when there is none, for example after a
  /// kill.
  package var exitStatus: Int32?
  /// Whether the filter did not end and had to be abandoned.
  package var hung = false
  /// The elapsed time on the real clock.
  package var elapsed = Duration.zero

  package init(input: [[UInt8]], endsWithLineFeed: Bool = true) {
    self.input = input
    self.endsWithLineFeed = endsWithLineFeed
  }

  /// Creates the evidence of a filter with this configuration.
  package init(input: [[UInt8]], endsWithLineFeed: Bool, filter: FilterConfiguration) {
    self.init(input: input, endsWithLineFeed: endsWithLineFeed)
    place = OutputPlace(filter)
    isOrdered = filter.isOrdered
  }

  /// Sets the report; nil when there is none.
  mutating func readReport(_ bytes: [UInt8]?) {
    do throws(ReportError) { report = try bytes.map(ReportedLine.read) } catch { reportError = error }
  }

  /// The lines of the output without line endings. Bytes after the last line feed also form a line.
  package var outputLines: [ArraySlice<UInt8>] {
    var lines = output.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    if lines.last?.isEmpty == true { lines.removeLast() }
    return lines
  }
}
