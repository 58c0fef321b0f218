package import Attache
internal import Glibc

/// Reads payloads from a descriptor, one after another: one per line as in the filter, or
/// pretty-printed ones.
package final class PayloadInput {
  private let lines: LineReader
  private let joinsLines: Bool
  private var assembler = PayloadAssembler()
  private var ready: ArraySlice<InputPayload> = []
  private var line = 0
  /// The length so far of a line that is too long to be kept.
  private var overlong: Int?
  private var hasEnded = false

  /// - Parameters:
  ///   - descriptor: the descriptor to read; it is neither closed nor changed.
  ///   - joinsLines: whether a payload may span several lines.
  /// - Throws: ``SystemError`` if no file descriptor is available for waiting.
  package init(descriptor: Int32, joinsLines: Bool = true) throws(SystemError) {
    self.joinsLines = joinsLines
    lines = LineReader(descriptor: descriptor, stop: try ReadingStop(machine: SystemMachine()), padding: 0)
  }

  /// Returns the next payload that is not blank; nil after the last.
  ///
  /// - Throws: ``SystemError`` of `read`.
  package func next() throws(SystemError) -> InputPayload? {
    while ready.isEmpty, !hasEnded {
      switch try lines.next() {
      case .line(let segment), .unfinished(let segment): add(unsafe segment.withUnsafeBytes { unsafe Array($0) })
      case .overlong(let piece, let isLast): addPiece(piece, isLast: isLast)
      case .pause: break
      case .end, .stopped:
        hasEnded = true
        ready = assembler.finish()[...]
      }
    }
    return ready.popFirst()
  }

  private func add(_ bytes: [UInt8]) {
    line += 1
    ready = (joinsLines ? assembler.add(bytes, number: line) : [InputPayload](alone: bytes, number: line))[...]
  }

  private func addPiece(_ piece: Segment, isLast: Bool) {
    let endsLine = unsafe piece.withUnsafeBytes { unsafe $0.last == UInt8(ascii: "\n") }
    let length = (overlong ?? 0) + piece.count - (isLast && endsLine ? 1 : 0)
    overlong = length
    guard isLast else { return }
    line += 1
    overlong = nil
    ready = assembler.finish()[...] + [InputPayload(line: line, length: length)][...]
  }

  /// Opens a file for reading.
  ///
  /// - Throws: ``SystemError`` of `open`.
  package static func open(_ path: String) throws(SystemError) -> Int32 {
    try SystemError.check("open", unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC))
  }
}
