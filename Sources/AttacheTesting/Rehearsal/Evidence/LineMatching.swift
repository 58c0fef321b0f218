/// Matches each line of output to the line of input that it answers: first by content, then by
/// order.
package struct LineMatching: Sendable {
  /// The classification of a line of output; lines of input count from 0.
  package enum Match: Hashable, Sendable {
    /// The answer to this line, in its place.
    case line(Int)
    /// The answer to this line, but earlier or later than its neighbours.
    case moved(Int)
    /// A repeated answer to this line.
    case again(Int)
    /// A part of this line.
    case torn(Int)
    /// The rest of this line; the previous line of output is its first part.
    case rest(Int)
    /// This line with a change.
    case altered(Int)
    /// A line that resembles no line of input.
    case stranger

    /// The line of input that a complete line of output answers; nil when there is none.
    var line: Int? {
      switch self {
      case .line(let line), .moved(let line), .again(let line): line
      case .torn, .rest, .altered, .stranger: nil
      }
    }
  }

  /// The classification of each line of output.
  private(set) var answers: [Match]
  /// The lines of input without an answer.
  private(set) var lost: [Int] = []

  init(
    input: [[UInt8]], output: [ArraySlice<UInt8>], allowedChanges: PromiseCheck.AllowedChanges = .members,
    gaining outputPlace: OutputPlace = OutputPlace()
  ) {
    let index = PayloadIndex(input, allowedChanges: allowedChanges, place: outputPlace)
    let kinds = output.map { index.kind(of: $0) }
    answers = output.map { _ in .stranger }
    let pairs = Alignment.pairs(index.kinds, kinds)
    for pair in pairs { answers[pair.right] = .line(pair.left) }
    lost = Set(input.indices).subtracting(pairs.map(\.left)).sorted()
    place(kinds, index)
    explain(input, output, index)
  }

  /// Classifies complete lines that are out of order: the answer to a line that has none, otherwise
  /// a repeated answer.
  private mutating func place(_ kinds: [Int?], _ index: PayloadIndex) {
    var missing = Dictionary(grouping: lost) { index.kinds[$0] }
    let members = Dictionary(grouping: index.kinds.indices) { index.kinds[$0] }
    for (number, kind) in kinds.enumerated() where answers[number] == .stranger {
      guard let kind, let members = members[kind] else { continue }
      if let line = missing[kind]?.first {
        missing[kind]?.removeFirst()
        answers[number] = .moved(line)
      } else {
        answers[number] = .again(members.last { $0 <= number } ?? members[0])
      }
    }
    lost = missing.values.joined().sorted()
  }

  /// Classifies the remaining lines as parts or changed forms of lines without an answer, if they
  /// resemble one.
  private mutating func explain(_ input: [[UInt8]], _ output: [ArraySlice<UInt8>], _ index: PayloadIndex) {
    for (number, line) in output.enumerated() where answers[number] == .stranger {
      if number > 0, case .torn(let start) = answers[number - 1], index.kind(of: output[number - 1] + line) == index.kinds[start] {
        answers[number] = .rest(start)
        continue
      }
      // If the number of lines is the same, the candidate is the unanswered line at the same
      // position.
      let candidates = output.count == input.count && lost.contains(number) ? [number] : nearby(number)
      let likeness = candidates.map { (line: $0, count: Self.likeness(input[$0], line)) }
      guard let best = likeness.max(by: { ($0.count, -abs($0.line - number)) < ($1.count, -abs($1.line - number)) }), best.count > 0 else {
        continue
      }
      if index.isVague(index.kinds[best.line], for: line) {
        answers[number] = best.line == number ? .line(best.line) : .moved(best.line)
      } else {
        answers[number] = Self.isTorn(line, of: input[best.line]) ? .torn(best.line) : .altered(best.line)
      }
      lost.removeAll { $0 == best.line }
    }
  }

  /// Accepts altered lines.
  ///
  /// - Parameter isAllowed: whether the line of input may have become the line of output of that
  ///   number.
  mutating func allow(_ isAllowed: (_ line: Int, _ number: Int) -> Bool) {
    for (number, answer) in answers.enumerated() {
      if case .altered(let line) = answer, isAllowed(line, number) { answers[number] = line == number ? .line(line) : .moved(line) }
    }
  }

  /// Returns the unanswered lines near a position. Distant lines are skipped, to limit the cost for
  /// a filter that changes every line.
  private func nearby(_ number: Int) -> ArraySlice<Int> {
    let middle = lost.firstIndex { $0 >= number } ?? lost.count
    return lost[max(0, middle - 64)..<min(lost.count, middle + 64)]
  }

  /// Returns the number of equal bytes at both ends.
  private static func likeness(_ original: [UInt8], _ line: ArraySlice<UInt8>) -> Int {
    let start = zip(original, line).prefix { $0 == $1 }.count
    let end = zip(original.dropFirst(start).reversed(), line.dropFirst(start).reversed()).prefix { $0 == $1 }.count
    return start + end
  }

  /// Returns whether a line is one end of the original, or is incomplete JSON where the original is
  /// complete.
  private static func isTorn(_ line: ArraySlice<UInt8>, of original: [UInt8]) -> Bool {
    guard !line.isEmpty else { return false }
    if line.count < original.count, original.starts(with: line) || original.suffix(line.count).elementsEqual(line) { return true }
    return breaksOff(line) && !breaksOff(original[...])
  }

  private static func breaksOff(_ text: ArraySlice<UInt8>) -> Bool {
    do {
      _ = try JSONReader.read(text)
      return false
    } catch {
      switch error {
      case .end: return true
      case .syntax: return false
      }
    }
  }
}
