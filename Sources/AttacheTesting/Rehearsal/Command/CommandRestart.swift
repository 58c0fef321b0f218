/// Checks a command that was killed and restarted: together, the two runs must output every line
/// complete, at least once.
struct CommandRestart {
  let point: CommandKillPoint
  /// The whole input.
  let input: [[UInt8]]
  let endsWithLineFeed: Bool
  /// The output of the killed command.
  let firstOutput: [UInt8]

  /// The lines, from 0, without a complete line of output. The second run gets them.
  var unanswered: [Int] {
    let answered = Set(LineMatching(input: input, output: wholeLines).answers.compactMap(\.line))
    return input.indices.filter { !answered.contains($0) }
  }

  /// Returns the violations of both runs together.
  ///
  /// - Parameter secondOutput: the output of the second run; empty when nothing was left to do.
  func findings(secondOutput: [UInt8]) -> [Finding] {
    var union = Evidence(input: input, endsWithLineFeed: endsWithLineFeed)
    union.output = wholeLines.flatMap { $0 + [UInt8(ascii: "\n")] } + secondOutput
    let broken = PromiseCheck(anyOrder: true, allowsRepeats: true).findings(RunAnalysis(union))
    return (torn + broken).map { finding in
      Finding(finding.kind, payload: finding.payload, "killed at \(point) and started again: \(finding.message)")
    }
  }

  private var pieces: [ArraySlice<UInt8>] {
    firstOutput.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
  }

  /// The lines with a line feed. The last line without one is included if it is the complete last
  /// line of the input.
  private var wholeLines: [ArraySlice<UInt8>] {
    isLastWhole ? pieces : pieces.dropLast()
  }

  private var isLastWhole: Bool {
    guard !endsWithLineFeed, let last = pieces.last, !last.isEmpty else { return false }
    let line = LineMatching(input: input, output: [last]).answers.first?.line
    return line.map { input[$0] == input[input.count - 1] } == true
  }

  private var torn: [Finding] {
    guard let last = pieces.last, !last.isEmpty, !isLastWhole else { return [] }
    return [Finding(.torn, "its output ends within a line: \(Excerpt(last))")]
  }
}
