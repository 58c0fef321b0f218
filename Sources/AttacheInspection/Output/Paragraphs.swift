internal import Attache

/// Breaks sentences into lines for a terminal.
struct Paragraphs {
  let width: Int
  let isColoured: Bool

  /// Returns the sentence as lines that fit, if no single word is too long. Each line begins with
  /// `indent` spaces; lines after the first have `hanging` more.
  func lines(_ sentence: String, indent: Int, hanging: Int = 2) -> [String] {
    var lines: [String] = []
    var line = ""
    var length = 0
    for word in sentence.split(separator: " ") {
      let wordLength = Self.columns(of: word)
      if length > 0, length + 1 + wordLength > width {
        lines.append(line)
        length = 0
      }
      if length == 0 {
        line = String(repeating: " ", count: indent + (lines.isEmpty ? 0 : hanging))
        length = line.count
      } else {
        line += " "
        length += 1
      }
      line += word
      length += wordLength
    }
    return length > 0 ? lines + [line] : lines
  }

  func bold(_ text: String) -> String { painted(text, "1") }

  func coloured(_ severity: FindingCode.Severity) -> String {
    switch severity {
    case .error: painted(severity.rawValue, "1;31")
    case .warning: painted(severity.rawValue, "33")
    case .note: painted(severity.rawValue, "36")
    }
  }

  private func painted(_ text: String, _ code: String) -> String {
    isColoured ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
  }

  /// Returns the number of columns of a word on a terminal. Color sequences take none.
  private static func columns(of word: Substring) -> Int {
    var columns = 0
    var isEscape = false
    for scalar in word.unicodeScalars {
      if scalar == "\u{1B}" { isEscape = true }
      if !isEscape { columns += 1 }
      if isEscape, scalar == "m" { isEscape = false }
    }
    return columns
  }
}
