internal import Glibc

extension DialectForm {
  /// The rows of the built-in table in outline.
  ///
  /// Each stands between a line ` {` and one that begins with ` }`, as the file is formatted: so
  /// one can be read without the others.
  func outlines() -> [Dialect] {
    let reader = OutlineReader()
    let parser = JSONParser(capacity: bytes.count)
    var rows: [Dialect] = []
    for range in rowRanges() {
      guard let form = parse(range, with: parser) else { continue }
      var row = reader.dialect(form)
      row.origin = DialectOrigin(form: self, row: rows.count, range: range)
      row.isBuiltIn = true
      rows.append(row)
    }
    return rows
  }

  /// The row that stands there, as far as media come from it.
  func row(in range: Range<Int>) -> Dialect? {
    let parser = JSONParser(capacity: max(range.count, 1024))
    return parse(range, with: parser).flatMap { try? Dialect(form: $0, isWhole: false) }
  }

  private func rowRanges() -> [Range<Int>] {
    unsafe bytes.withUnsafeBytes { text in
      var ranges: [Range<Int>] = []
      var start = 0
      var line = 0
      while line + 3 < text.count, let base = text.baseAddress {
        let isIndented = unsafe text[line] == UInt8(ascii: " ") && text[line + 1] == UInt8(ascii: " ")
        if isIndented, unsafe text[line + 2] == UInt8(ascii: "{") { start = line + 2 }
        if isIndented, unsafe text[line + 2] == UInt8(ascii: "}") { ranges.append(start..<line + 3) }
        guard let end = unsafe memchr(base + line, CInt(UInt8(ascii: "\n")), text.count - line) else { break }
        line = unsafe UnsafeRawPointer(end) - base + 1
      }
      return ranges
    }
  }
}
