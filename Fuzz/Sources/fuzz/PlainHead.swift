/// The lines of a response's head, read by a second reader that shares nothing with the filter's.
struct PlainHead: CustomStringConvertible {
  let byteCount: Int
  let lineCount: Int
  private(set) var status = 0
  private(set) var isFolded = false
  private var fields: [(name: String, value: String)] = []

  init(_ lines: [[UInt8]]) {
    byteCount = lines.reduce(0) { $0 + $1.count }
    lineCount = lines.count
    for line in lines {
      if line.starts(with: "HTTP/".utf8) {
        (fields, isFolded) = ([], false)
        let words = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
        status = words.count > 1 ? Int(Self.text(words[1][...])) ?? 0 : 0
      } else if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
        fields.append((Self.text(line[..<colon]).lowercased(), Self.text(line[(colon + 1)...])))
      }
      if [0x20, 0x09].contains(line[0]), !Self.text(line[...]).isEmpty { isFolded = true }
    }
  }

  /// The values of a field, as many as there are.
  subscript(name: String) -> [String] {
    fields.filter { $0.name == name }.map(\.value)
  }

  var description: String {
    "status \(status), " + fields.map { "\(quoted($0.name.utf8)): \(quoted($0.value.utf8))" }.joined(separator: ", ")
  }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String {
    let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
    var bytes = bytes.drop(while: isSpace)
    while let last = bytes.last, isSpace(last) { bytes.removeLast() }
    return String(decoding: bytes, as: UTF8.self)
  }
}
