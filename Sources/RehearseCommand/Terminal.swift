internal import Glibc
internal import Synchronization

/// A standard stream that people read. Colour is used only where it is shown.
final class Terminal: Sendable {
  enum Colour: Int {
    case red = 31, green = 32, yellow = 33, grey = 90
  }

  static let output = Terminal(descriptor: STDOUT_FILENO)
  static let error = Terminal(descriptor: STDERR_FILENO)

  private let descriptor: CInt
  private let hasColour: Bool
  private let failed = Mutex<CInt?>(nil)

  private init(descriptor: CInt) {
    self.descriptor = descriptor
    hasColour = isatty(descriptor) == 1 && Self.variable("NO_COLOR") == nil && ![nil, "dumb"].contains(Self.variable("TERM"))
  }

  /// Returns the text in a colour, if the stream shows colours.
  func paint(_ text: String, _ colour: Colour) -> String {
    hasColour ? "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m" : text
  }

  /// Writes the whole text. After a write error, all further text is ignored.
  func write(_ text: String) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty, failure == nil {
      let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      if count < 0 { failed.withLock { $0 = errno } }
      rest = rest.dropFirst(max(0, count))
    }
  }

  /// The error of the stream; nil when it accepted everything.
  var failure: String? {
    failed.withLock { $0 }.map { unsafe String(cString: strerror($0)) }
  }

  /// Returns an environment variable; nil when it is unset or empty.
  private static func variable(_ name: String) -> String? {
    guard let value = unsafe getenv(name), unsafe value.pointee != 0 else { return nil }
    return unsafe String(cString: value)
  }
}
