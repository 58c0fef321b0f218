/// The lines of a response's head, read by a second reader that shares nothing with the filter's.
struct PlainHead: CustomStringConvertible {
  let byteCount: Int
  let lineCount: Int
  private(set) var status = 0
  private(set) var isHTTP10 = false
  /// Whether readers may differ about a field: it is folded, its name has blanks, or a CR is in it.
  private(set) var isAmbiguous = false
  private var fields: [(name: String, value: String)] = []

  init(_ lines: [[UInt8]]) {
    byteCount = lines.reduce(0) { $0 + $1.count }
    lineCount = lines.count
    var expectsStatus = true
    for line in lines {
      let content = Self.withoutEnding(line)
      if content.isEmpty {
        expectsStatus = true
      } else if expectsStatus, let status = Self.status(of: content) {
        (self.status, isHTTP10, isAmbiguous, fields) = (status, content.starts(with: "HTTP/1.0".utf8), false, [])
        expectsStatus = false
      } else {
        readField(content)
      }
    }
  }

  /// The values of a field, as many as there are.
  subscript(name: String) -> [String] {
    fields.filter { $0.name == name }.map(\.value)
  }

  var description: String {
    "status \(status), " + fields.map { "\(quoted($0.name.utf8)): \(quoted($0.value.utf8))" }.joined(separator: ", ")
  }

  private mutating func readField(_ content: ArraySlice<UInt8>) {
    let parts = content.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
    let hasBlankInName = parts.count == 2 && parts[0].contains { [0x20, 0x09].contains($0) }
    if [0x20, 0x09].contains(content.first) || hasBlankInName || content.contains(0x0D) { isAmbiguous = true }
    if parts.count == 2 { fields.append((Self.text(parts[0]).lowercased(), Self.text(parts[1]))) }
  }

  private static func status(of content: ArraySlice<UInt8>) -> Int? {
    guard content.starts(with: "HTTP/".utf8) else { return nil }
    let words = content.split(separator: 0x20, maxSplits: 2)
    return words.count > 1 ? Int(String(decoding: words[1], as: UTF8.self)) : nil
  }

  private static func withoutEnding(_ line: [UInt8]) -> ArraySlice<UInt8> {
    let line = line.last == 0x0A ? line.dropLast() : line[...]
    return line.last == 0x0D ? line.dropLast() : line
  }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String {
    var bytes = bytes.drop { [0x20, 0x09].contains($0) }
    while let last = bytes.last, [0x20, 0x09].contains(last) { bytes.removeLast() }
    return String(decoding: bytes, as: UTF8.self)
  }
}
