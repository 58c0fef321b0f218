internal import Glibc

/// A standard stream that people read: whole pieces, and colour only where it shows.
struct Terminal: Sendable {
  enum Colour: Int {
    case red = 31, green = 32, yellow = 33, grey = 90
  }

  static let output = Terminal(descriptor: STDOUT_FILENO)
  static let error = Terminal(descriptor: STDERR_FILENO)

  private let descriptor: CInt
  private let hasColour: Bool

  private init(descriptor: CInt) {
    self.descriptor = descriptor
    hasColour = isatty(descriptor) == 1 && Self.variable("NO_COLOR") == nil && Self.variable("TERM") != "dumb"
  }

  /// A text in a colour, where the stream shows any.
  func paint(_ text: String, _ colour: Colour) -> String {
    hasColour ? "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m" : text
  }

  /// Writes all of it; nobody reads a report whose stream is closed, so that a failure is none of the rehearsal's.
  func write(_ text: String) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  /// An environment variable that is set to something.
  private static func variable(_ name: String) -> String? {
    guard let value = unsafe getenv(name), unsafe value.pointee != 0 else { return nil }
    return unsafe String(cString: value)
  }
}
