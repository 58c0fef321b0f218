internal import Attache

/// Joins the lines of an object that spans several lines.
///
/// An object that is not closed at the end of its line continues until its braces balance. If they
/// never do, its first line alone is the payload, and the following lines are examined again.
struct PayloadAssembler {
  /// The lines of the object that is not closed yet.
  private var open: [(number: Int, bytes: [UInt8])] = []
  private var length = 0
  private var scan = BraceScan()

  /// Adds a line, with or without its ending, and returns the payloads that are complete.
  mutating func add(_ line: [UInt8], number: Int) -> [InputPayload] {
    var payloads: [InputPayload] = []
    var waiting = [(number: number, bytes: line)][...]
    while let next = waiting.popFirst() {
      guard !take(next, into: &payloads) else { continue }
      waiting = giveUp(into: &payloads) + [next] + waiting
    }
    return payloads
  }

  /// Ends the input. An object that is not closed now never balances.
  mutating func finish() -> [InputPayload] {
    var payloads: [InputPayload] = []
    while !open.isEmpty {
      for line in giveUp(into: &payloads) { payloads += add(line.bytes, number: line.number) }
    }
    return payloads
  }

  /// - Returns: false if the line cannot continue the open object.
  private mutating func take(_ line: (number: Int, bytes: [UInt8]), into payloads: inout [InputPayload]) -> Bool {
    if open.isEmpty {
      guard line.bytes.contains(where: { !$0.isJSONSpace }) else { return true }
      scan = BraceScan()
      length = 0
    }
    let state = scan.read(line.bytes)
    if open.isEmpty, state != .open {
      payloads.append(InputPayload(line: line.number, bytes: Self.withoutEnding(line.bytes)))
      return true
    }
    length += line.bytes.count
    if state == .broken || length > PayloadReader.maximumLineLength { return false }
    open.append(line)
    if state == .closed {
      payloads.append(InputPayload(line: open[0].number, bytes: Self.withoutEnding(Array(open.map(\.bytes).joined())), isSpread: true))
      open = []
    }
    return true
  }

  /// Adds the first line of the open object as a payload, and returns the others.
  private mutating func giveUp(into payloads: inout [InputPayload]) -> ArraySlice<(number: Int, bytes: [UInt8])> {
    defer { open = [] }
    guard let first = open.first else { return [] }
    payloads.append(InputPayload(line: first.number, bytes: Self.withoutEnding(first.bytes)))
    return open.dropFirst()
  }

  fileprivate static func withoutEnding(_ line: [UInt8]) -> [UInt8] {
    guard line.last == UInt8(ascii: "\n") else { return line }
    let isWindows = line.dropLast().last == UInt8(ascii: "\r")
    return Array(line.dropLast(isWindows ? 2 : 1))
  }
}

extension [InputPayload] {
  /// The payload of a line, with or without its ending; none if the line is blank.
  init(alone line: [UInt8], number: Int) {
    self = line.allSatisfy(\.isJSONSpace) ? [] : [InputPayload(line: number, bytes: PayloadAssembler.withoutEnding(line))]
  }
}
