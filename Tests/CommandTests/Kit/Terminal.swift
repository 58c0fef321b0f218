import Attache
import Glibc

/// A pseudoterminal. A program has one side, and the test reads the other.
final class Terminal: Sendable {
  /// The program's side.
  let program: Int32
  /// TIOCSPTLCK and TIOCGPTN of asm-generic/ioctls.h: the work of unlockpt(3) and ptsname(3), which
  /// Swift's Glibc does not export.
  private static let (setLock, getNumber): (UInt, UInt) = (0x4004_5431, 0x8004_5430)
  private let shown: ProgramOutput
  private let isClosed = Watched(false)

  /// - Parameter columns: the width that the terminal reports; 0 for none.
  init(columns: UInt16 = 0) throws {
    let test = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var (isLocked, number): (Int32, Int32) = (0, 0)
    guard test >= 0, unsafe ioctl(test, Self.setLock, &isLocked) == 0, unsafe ioctl(test, Self.getNumber, &number) == 0 else {
      throw SystemError(call: "open /dev/ptmx", number: errno)
    }
    program = unsafe open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard program >= 0 else { throw SystemError(call: "open", number: errno) }
    var size: (rows: UInt16, columns: UInt16, UInt16, UInt16) = (25, columns, 0, 0)
    guard unsafe ioctl(test, UInt(TIOCSWINSZ), &size) == 0 else { throw SystemError(call: "ioctl", number: errno) }
    shown = ProgramOutput(test)
  }

  deinit {
    closeProgramSide()
  }

  /// Closes the program's side after a program has it. The terminal then ends with that program.
  func closeProgramSide() {
    let isFirst = isClosed.change { isClosed in
      defer { isClosed = true }
      return !isClosed
    }
    if isFirst { close(program) }
  }

  /// Waits until the screen contains a text, with a terminal's line endings.
  func text(holding text: String) async -> String {
    await shown.wait { String(decoding: $0.bytes, as: UTF8.self).contains(text) }
    return String(decoding: shown.bytes, as: UTF8.self)
  }

  func everything() async -> String {
    String(decoding: await shown.everything(), as: UTF8.self)
  }
}
