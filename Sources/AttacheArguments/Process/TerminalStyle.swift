internal import Glibc

/// What may be written to a descriptor beside plain lines.
package enum TerminalStyle {
  /// Whether it is a terminal that understands escape sequences, and a user who has not asked for
  /// plain text.
  package static func takesEscapes(_ descriptor: Int32) -> Bool {
    guard isatty(descriptor) == 1 else { return false }
    if let plain = unsafe getenv("NO_COLOR"), unsafe plain.pointee != 0 { return false }
    guard let terminal = unsafe getenv("TERM") else { return false }
    return unsafe strcmp(terminal, "dumb") != 0 && terminal.pointee != 0
  }

  /// The columns for text: those of a terminal within bounds that people read well, 100 elsewhere.
  package static func width(_ descriptor: Int32) -> Int {
    columns(descriptor).map { min(max($0, 40), 120) } ?? 100
  }

  /// The columns that a terminal has; nil for what is none, or does not say.
  package static func columns(_ descriptor: Int32) -> Int? {
    // As struct winsize: rows and columns, then pixels.
    var size: (rows: UInt16, columns: UInt16, UInt16, UInt16) = (0, 0, 0, 0)
    guard isatty(descriptor) == 1, unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.columns > 0 else { return nil }
    return Int(size.columns)
  }
}
