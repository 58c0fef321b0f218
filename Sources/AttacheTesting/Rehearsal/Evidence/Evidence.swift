package import AttacheArguments

/// What one run of a scenario left behind; the checks judge it.
package struct Evidence: Sendable {
  /// The lines of input as they were fed, placeholders filled in, without their line endings.
  package var input: [[UInt8]]
  /// Whether the last line of the input had an ending.
  package var endsWithLineFeed: Bool
  /// Where in a line the filter's flags put attache's member.
  package var place = OutputPlace()
  /// Whether the filter's flags ask for the input's order.
  package var isOrdered = true
  /// Everything that the filter wrote.
  package var output: [UInt8] = []
  /// When each line of the output came, counted from the moment when the payloads were written;
  /// empty where nobody looked.
  package var arrivals: [Duration] = []
  /// The report's records in the order of the file; nil when there is no report.
  package var report: [ReportedLine]?
  /// Why the report could not be read.
  package var reportError: ReportError?
  /// The requests that reached each path, by `PATH`, or `NAME/PATH` for an origin that is not named
  /// `origin`.
  package var requests: [String: Int] = [:]
  /// The names of the fields that the requests had, in lower case.
  package var fields: Set<String> = []
  /// The connections that all origins together accepted; in a network of its own, all that were
  /// tried.
  package var connections = 0
  /// Where to, in a network of its own.
  package var destinations: [String] = []
  /// The names that the name server was asked for.
  package var namesAsked: Set<String> = []
  /// In order of time.
  package var timeline: [ScenarioResult.Event] = []
  /// The files that the output names, by their URL, as they lay in the store at the end.
  package var files: [String: FoundFile] = [:]
  /// By how much the resident set grew at most, in bytes; nil where it was not measured.
  package var memory: Int?
  /// How many descriptors were open at most beyond those before the run; nil where they were not
  /// counted.
  package var descriptors: Int?
  /// As the tool would have it; nil when there is none, as of a command that was killed.
  package var exitStatus: Int32?
  /// Whether the filter had to be given up.
  package var hung = false
  /// On the wall's clock.
  package var elapsed = Duration.zero

  package init(input: [[UInt8]], endsWithLineFeed: Bool = true) {
    self.input = input
    self.endsWithLineFeed = endsWithLineFeed
  }

  /// The evidence of a filter with these flags.
  package init(input: [[UInt8]], endsWithLineFeed: Bool, options: FilterOptions) {
    self.init(input: input, endsWithLineFeed: endsWithLineFeed)
    place = OutputPlace(options.engine.payloads)
    isOrdered = !options.order.unordered
  }

  /// The lines of the output without their line endings; what follows the last line feed is a line
  /// too, unless it is nothing.
  package var outputLines: [ArraySlice<UInt8>] {
    var lines = output.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    if lines.last?.isEmpty == true { lines.removeLast() }
    return lines
  }
}
