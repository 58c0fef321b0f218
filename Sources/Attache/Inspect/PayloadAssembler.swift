/// Puts the lines of an object that spreads over several of them together.
///
/// An object that is not closed at its line's end goes on until its braces balance. When they never
/// do, its first line alone is the payload, and the lines after it are looked at anew.
struct PayloadAssembler {
  /// The lines of the object that is open.
  private var open: [(number: Int, bytes: [UInt8])] = []
  private var length = 0
  private var scan = BraceScan()

  /// Adds a line with or without its ending, and gives the payloads that are whole.
  mutating func add(_ line: [UInt8], number: Int) -> [InputPayload] {
    var payloads: [InputPayload] = []
    var waiting = [(number: number, bytes: line)][...]
    while let next = waiting.popFirst() {
      guard !take(next, into: &payloads) else { continue }
      waiting = giveUp(into: &payloads) + [next] + waiting
    }
    return payloads
  }

  /// Ends the input: what is open never balances.
  mutating func finish() -> [InputPayload] {
    var payloads: [InputPayload] = []
    while !open.isEmpty {
      for line in giveUp(into: &payloads) { payloads += add(line.bytes, number: line.number) }
    }
    return payloads
  }

  /// - Returns: false when the line does not go on with the object that is open.
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

  /// Gives the first line of what is open as a payload, and takes the others out.
  private mutating func giveUp(into payloads: inout [InputPayload]) -> ArraySlice<(number: Int, bytes: [UInt8])> {
    defer { open = [] }
    guard let first = open.first else { return [] }
    payloads.append(InputPayload(line: first.number, bytes: Self.withoutEnding(first.bytes)))
    return open.dropFirst()
  }

  private static func withoutEnding(_ line: [UInt8]) -> [UInt8] {
    guard line.last == UInt8(ascii: "\n") else { return line }
    let isWindows = line.dropLast().last == UInt8(ascii: "\r")
    return Array(line.dropLast(isWindows ? 2 : 1))
  }
}
