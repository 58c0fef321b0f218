internal import Attache

/// The promise that every filter must keep: each line appears once, complete, in order and in time,
/// as the original or as a line that contains it.
package struct PromiseCheck: Sendable {
  /// The changes to a line that are allowed.
  package enum AllowedChanges: Sendable, Hashable {
    /// A JSON object can gain members at any depth and can be reformatted.
    case members
    /// The bytes must be the original's, with or without attache's member spliced in.
    case splice(OutputPlace)
  }

  private let anyOrder: Bool
  private let allowsRepeats: Bool

  /// - Parameters:
  ///   - anyOrder: whether lines can come in another order.
  ///   - allowsRepeats: whether a line can come more than once, as after a restart.
  package init(anyOrder: Bool = false, allowsRepeats: Bool = false) {
    self.anyOrder = anyOrder
    self.allowsRepeats = allowsRepeats
  }

  /// Returns the violations in the output of a run.
  ///
  /// - Parameter due: the due time of each line of input, on the clock of the arrivals; empty when
  ///   lateness is not checked.
  package func findings(_ run: RunAnalysis, due: [Duration] = []) -> [Finding] {
    var findings = run.matching.lost.map { lost($0, run.evidence) }
    findings += repeats(run.matching)
    findings += run.matching.answers.enumerated().compactMap { broken($1, number: $0, run) }
    if !anyOrder { findings += reordered(run.matching) }
    findings += late(run.matching, run.evidence.arrivals, due)
    findings += ending(run)
    return findings.abridged
  }

  private func lost(_ line: Int, _ evidence: Evidence) -> Finding {
    Finding(.lost, payload: line + 1, "expected one line of output, got none for \(Excerpt(evidence.input[line]))")
  }

  private func repeats(_ matching: LineMatching) -> [Finding] {
    guard !allowsRepeats else { return [] }
    var counts: [Int: Int] = [:]
    for case .again(let line) in matching.answers { counts[line, default: 1] += 1 }
    return counts.sorted { $0.key < $1.key }.map { line, count in
      Finding(.duplicated, payload: line + 1, "expected one line of output, got \(count)")
    }
  }

  private func broken(_ answer: LineMatching.Match, number: Int, _ run: RunAnalysis) -> Finding? {
    let (text, input) = (run.output[number], run.evidence.input)
    switch answer {
    case .line(let line), .moved(let line), .again(let line):
      return run.allows(number, from: line) ? nil : altered(line, text, run)
    case .rest: return nil
    case .torn(let line):
      return Finding(
        .torn, payload: line + 1, "expected a whole line, got only a part: \(Excerpt(text)) of \(Excerpt(input[line]))")
    case .altered(let line): return altered(line, text, run)
    case .stranger: return Finding(.altered, "line \(number + 1) of the output is not from the input: \(Excerpt(text))")
    }
  }

  private func altered(_ line: Int, _ text: ArraySlice<UInt8>, _ run: RunAnalysis) -> Finding {
    let original = run.evidence.input[line]
    let wanted =
      switch run.allowedChanges {
      case .members: "the original or a line with all its members"
      case .splice: "the original, or the original with one member inserted"
      }
    let start = zip(original, text).prefix { $0 == $1 }.count
    let (expected, came) = (Excerpt(original[start...]), Excerpt(text.dropFirst(start)))
    return Finding(.altered, payload: line + 1, "expected \(wanted); from byte \(start) on, \(expected) became \(came)")
  }

  private func reordered(_ matching: LineMatching) -> [Finding] {
    matching.answers.enumerated().compactMap { number, answer in
      guard case .moved(let line) = answer else { return nil }
      let others = matching.answers[..<number].compactMap(\.line)
      let after = others.last.map { " after line \($0 + 1)" } ?? " first"
      return Finding(.reordered, payload: line + 1, "expected the order of the input; the line came as number \(number + 1)\(after)")
    }
  }

  private func late(_ matching: LineMatching, _ arrivals: [Duration], _ due: [Duration]) -> [Finding] {
    zip(matching.answers, arrivals).compactMap { answer, arrival in
      guard let line = answer.line, line < due.count, arrival > due[line] else { return nil }
      let excess = Milliseconds(arrival - due[line])
      return Finding(
        .late, payload: line + 1,
        "it was due \(Milliseconds(due[line])) after the start and came at \(Milliseconds(arrival)), \(excess) too late")
    }
  }

  /// Checks that the output ends like the input and never within a line.
  private func ending(_ run: RunAnalysis) -> [Finding] {
    let evidence = run.evidence
    let endsWithLineFeed = evidence.output.last == UInt8(ascii: "\n")
    guard let line = run.matching.answers.last?.line else { return [] }
    let mayLackLineFeed = !evidence.endsWithLineFeed && (anyOrder || line == evidence.input.count - 1)
    if !endsWithLineFeed, !mayLackLineFeed {
      return [Finding(.torn, payload: line + 1, "expected a line ending after the last line of output, got none")]
    }
    if endsWithLineFeed, !evidence.endsWithLineFeed, !anyOrder, case .splice = run.allowedChanges, line == evidence.input.count - 1 {
      return [Finding(.altered, payload: line + 1, "the last line of the input has no line ending, but its output has one")]
    }
    return []
  }
}

extension PromiseCheck.AllowedChanges {
  /// Returns whether a line that contains the original is allowed in its exact form.
  func allows(_ line: ArraySlice<UInt8>, from original: [UInt8]) -> Bool {
    switch self {
    case .members: true
    case .splice(let place):
      line.elementsEqual(original) || place.isSpliced(line, from: original)
        || EnvelopedLine(original: original, place: place).isSpliced(line)
    }
  }
}

extension OutputPlace {
  /// Returns whether a line is the original with attache's member inserted before the closing brace
  /// of its payload, and without other changes.
  func isSpliced(_ line: ArraySlice<UInt8>, from original: [UInt8]) -> Bool {
    guard let value = try? JSONReader.read(original[...]), let payload = payload(of: value), line.count > original.count else {
      return false
    }
    let brace = payload.closingBrace
    let (head, tail) = (original[..<brace], original[brace...])
    guard line.starts(with: head), line.suffix(tail.count).elementsEqual(tail) else { return false }
    var member = line.dropFirst(head.count).dropLast(tail.count)
    if !payload.members.isEmpty, member.popFirst() != UInt8(ascii: ",") { return false }
    let object = [UInt8(ascii: "{")] + member + [UInt8(ascii: "}")]
    guard case .object(let gained)? = try? JSONReader.read(object[...]), gained.closingBrace == object.count - 1 else { return false }
    return gained.members.count == 1 && GainedAttachment.read(line, at: self)?.isEmpty == false
  }
}
