internal import Attache
internal import AttacheArguments
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
    hasColour = TerminalStyle.takesEscapes(descriptor)
  }

  /// Returns the text in a colour, if the stream shows colours.
  func paint(_ text: String, _ colour: Colour) -> String {
    hasColour ? "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m" : text
  }

  /// Writes the whole text. After a write error, all further text is ignored.
  func write(_ text: String) {
    guard failure == nil else { return }
    do throws(SystemError) {
      try WholeWrite.write(Array(text.utf8), to: descriptor, waits: false)
    } catch {
      failed.withLock { $0 = error.number }
    }
  }

  /// The error of the stream; nil when it accepted everything.
  var failure: String? {
    failed.withLock { $0 }.map { SystemError.text($0) }
  }
}
