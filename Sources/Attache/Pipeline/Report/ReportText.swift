internal import Glibc

/// Writes the report's text to the file through a buffer of constant size. Discards the text after
/// the first error.
struct ReportText {
  private let descriptor: Int32
  private let bufferSize: Int
  private let detail: URLDetail
  private let failed: (SystemError) -> Void
  private let vectors = GatherBuffer()
  private var text: [UInt8] = []
  private var hasFailed = false

  init(descriptor: Int32, bufferSize: Int, showing detail: URLDetail, failed: @escaping (SystemError) -> Void) {
    self.descriptor = descriptor
    self.bufferSize = bufferSize
    self.detail = detail
    self.failed = failed
    text.reserveCapacity(bufferSize)
  }

  /// Adds the records of an item, and writes if the buffer is full.
  mutating func write(_ item: ReportItem) {
    switch item.account {
    case .none: break
    case .passing(let first, _, let reasons): writePassing(reasons, from: first, of: item)
    case .payload(var record):
      (record.placeWait, record.lateness) = (item.waited, item.lateness)
      record.write(to: &text, showing: detail)
      flushIfFull()
    }
  }

  /// Records of lines that passed together differ only in their number and reason, so the rest is
  /// encoded once per reason.
  private mutating func writePassing(_ reasons: [Reason], from first: Int, of item: ReportItem) {
    var rests: [Reason: [UInt8]] = [:]
    for (index, reason) in reasons.enumerated() where !hasFailed {
      text += Self.start
      appendDigits(of: first + index)
      let rest = rests[reason] ?? rest(of: item, reason)
      rests[reason] = rest
      text += rest
      flushIfFull()
    }
  }

  /// Returns what follows the line number in the record of a line that passed.
  private func rest(of item: ReportItem, _ reason: Reason) -> [UInt8] {
    var text: [UInt8] = []
    ReportRecord(
      line: 0, decision: Decision(Outcome(ofPassingLine: reason), reason), placeWait: item.waited, elapsed: .zero, lateness: item.lateness
    )
    .write(to: &text, showing: detail)
    return Array(text.dropFirst(Self.start.count + 1))
  }

  /// The text before a record's line number.
  private static let start = Array(#"{"line":"#.utf8)

  private mutating func appendDigits(of number: Int) {
    if number >= 10 { appendDigits(of: number / 10) }
    text.append(UInt8(ascii: "0") + UInt8(number % 10))
  }

  private mutating func flushIfFull() {
    if text.count >= bufferSize { flush() }
  }

  /// Writes the buffered text.
  mutating func flush() {
    defer { text.removeAll(keepingCapacity: true) }
    guard !hasFailed, !text.isEmpty else { return }
    do throws(SystemError) {
      try unsafe text.span.bytes.withUnsafeBytes { bytes throws(SystemError) in
        unsafe vectors.add(bytes)
        try vectors.write(to: descriptor)
      }
    } catch {
      hasFailed = true
      failed(error)
    }
  }
}
