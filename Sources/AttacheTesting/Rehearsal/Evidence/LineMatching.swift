/// Which line of input each line of output answers: content first, order second.
package struct LineMatching: Sendable {
  /// What a line of output is; lines of input count from 0.
  package enum Match: Hashable, Sendable {
    /// In its place.
    case line(Int)
    /// It came earlier or later than its neighbours.
    case moved(Int)
    /// This line was answered already.
    case again(Int)
    /// A part of this line.
    case torn(Int)
    /// What is left of a line whose first part is the line before.
    case rest(Int)
    /// This line with something changed.
    case altered(Int)
    /// Like nothing that was put in.
    case stranger
  }

  /// For each line of output.
  private(set) var answers: [Match]
  /// Lines of input without any answer.
  private(set) var lost: [Int] = []

  init(
    input: [[UInt8]], output: [ArraySlice<UInt8>], freedom: PromiseCheck.Freedom = .members,
    gaining outputPlace: OutputPlace = OutputPlace()
  ) {
    let index = PayloadIndex(input, freedom: freedom, place: outputPlace)
    let kinds = output.map { index.kind(of: $0) }
    answers = output.map { _ in .stranger }
    let pairs = Alignment.pairs(index.kinds, kinds)
    for pair in pairs { answers[pair.right] = .line(pair.left) }
    lost = Set(input.indices).subtracting(pairs.map(\.left)).sorted()
    place(kinds, index)
    explain(input, output, index)
  }

  /// The input that a whole line of output answers.
  static func line(of answer: Match) -> Int? {
    switch answer {
    case .line(let line), .moved(let line), .again(let line): line
    case .torn, .rest, .altered, .stranger: nil
    }
  }

  /// Whole lines out of order: the answer to a line that has none, else one too many.
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

  /// What the other lines are: parts or changed forms of lines that have no answer, as far as they
  /// look like one.
  private mutating func explain(_ input: [[UInt8]], _ output: [ArraySlice<UInt8>], _ index: PayloadIndex) {
    for (number, line) in output.enumerated() where answers[number] == .stranger {
      if number > 0, case .torn(let start) = answers[number - 1], index.kind(of: output[number - 1] + line) == index.kinds[start] {
        answers[number] = .rest(start)
        continue
      }
      // As many lines as there were: one that nothing answers is the one in its place.
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

  /// The lines without an answer around a place; those far away are not looked at, so that a filter
  /// that changes every line costs no more than it must.
  private func nearby(_ number: Int) -> ArraySlice<Int> {
    let middle = lost.firstIndex { $0 >= number } ?? lost.count
    return lost[max(0, middle - 64)..<min(lost.count, middle + 64)]
  }

  /// How many bytes agree at the two ends.
  private static func likeness(_ original: [UInt8], _ line: ArraySlice<UInt8>) -> Int {
    let start = zip(original, line).prefix { $0 == $1 }.count
    let end = zip(original.dropFirst(start).reversed(), line.dropFirst(start).reversed()).prefix { $0 == $1 }.count
    return start + end
  }

  /// Whether it is one end of the original, or breaks off where JSON must go on.
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
