internal import Glibc

/// What a descriptor accepts besides plain lines.
package enum TerminalStyle {
  /// Whether the descriptor is a terminal that understands escape sequences and the user has not
  /// asked for plain text.
  package static func takesEscapes(_ descriptor: Int32) -> Bool {
    guard isatty(descriptor) == 1 else { return false }
    if let plain = unsafe getenv("NO_COLOR"), unsafe plain.pointee != 0 { return false }
    guard let terminal = unsafe getenv("TERM") else { return false }
    return unsafe strcmp(terminal, "dumb") != 0 && terminal.pointee != 0
  }

  /// The number of columns for text: a terminal's width, limited to 40 to 120 columns for
  /// readability, or 100 without a terminal.
  package static func width(_ descriptor: Int32) -> Int {
    columns(descriptor).map { min(max($0, 40), 120) } ?? 100
  }

  /// The number of columns of a terminal; nil when the descriptor is not a terminal or its width is
  /// unknown.
  package static func columns(_ descriptor: Int32) -> Int? {
    // The layout of struct winsize: rows and columns, then pixels.
    var size: (rows: UInt16, columns: UInt16, UInt16, UInt16) = (0, 0, 0, 0)
    guard isatty(descriptor) == 1, unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.columns > 0 else { return nil }
    return Int(size.columns)
  }
}
