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
    case .passing(let first, _, let kinds): writePassing(kinds, from: first, of: item)
    case .payload(var record):
      (record.placeWait, record.lateness) = (item.waited, item.lateness)
      record.write(to: &text, showing: detail)
      flushIfFull()
    }
  }

  /// Records of lines that passed together differ only in their number and kind, so the rest is
  /// encoded once per kind.
  private mutating func writePassing(_ kinds: [PassingLine], from first: Int, of item: ReportItem) {
    let rests = PassingLine.allCases.map { kind in
      var text: [UInt8] = []
      ReportRecord(
        line: 0, outcome: kind.outcome, reason: kind.reason, placeWait: item.waited, elapsed: .zero, lateness: item.lateness
      )
      .write(to: &text, showing: detail)
      return Array(text.dropFirst(Self.start.count + 1))
    }
    for (index, kind) in kinds.enumerated() where !hasFailed {
      text += Self.start
      appendDigits(of: first + index)
      text += rests[Int(kind.rawValue)]
      flushIfFull()
    }
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
