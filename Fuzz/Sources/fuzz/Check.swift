internal import Glibc

/// Ends the process, so that libFuzzer keeps the input, when what a sentence says of the filter
/// does not hold.
func check(_ holds: Bool, _ sentence: @autoclosure () -> String) {
  if holds { return }
  let line = "broken promise: \(sentence())\n"
  _ = unsafe write(STDERR_FILENO, line, line.utf8.count)
  abort()
}

/// Bytes as they may stand in a sentence.
func quoted(_ bytes: some Sequence<UInt8>) -> String {
  "'" + bytes.map { (0x20..<0x7F).contains($0) ? String(Unicode.Scalar($0)) : "\\x" + String($0, radix: 16) }.joined() + "'"
}
