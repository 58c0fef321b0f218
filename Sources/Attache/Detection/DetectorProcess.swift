internal import CDetector
internal import Glibc

/// A child process in which libmagic inspects bytes. If the bytes crash or hang it, only their file
/// gets no answer.
///
/// A crash in a thread would end the whole process. A separate executable would have to be found
/// next to every program that uses the library, and would have to load the database again: it first
/// answers after 1.4 ms, a fork after 0.5 ms. The child has no descriptor except its socket, and
/// seccomp limits it to memory, time and that socket. A question takes 19 µs, where libmagic alone
/// takes 9 µs; seccomp adds nothing measurable. The child shares all but about 2 MB with its parent.
final class DetectorProcess: HelperProcess {
  enum Reply {
    case named(String)
    /// The child ended before it received the question. Another child may be asked.
    case gone
    case failed(DetectorFailure)
  }

  /// The maximum processor time for a question. The slowest known bytes take 2 ms.
  static let processorLimit = Duration.milliseconds(100)
  /// The maximum time for an answer, which ends a child that only waits. A machine under load needs
  /// some of it for 10 µs of work.
  static let waitLimit = Duration.seconds(2)

  /// Whether the kernel limits the child to the system calls that it needs; nil before the first
  /// answer.
  private(set) var isConfined: Bool?

  /// - Throws: ``SystemError`` when the system cannot create a process.
  init(database: MagicCookie) throws(SystemError) {
    try super.init { () throws(SystemError) in try Self.start(database) }
  }

  /// Starts a child (``HelperProcess/Start``).
  static func start(_ database: MagicCookie) throws(SystemError) -> (socket: Int32, child: pid_t) {
    var child: pid_t = 0
    let processorTime = Int32(processorLimit / .milliseconds(1))
    let waitTime = Int32(waitLimit / .milliseconds(1))
    let socket = try SystemError.check("fork", unsafe detector_start(database.handle, processorTime, waitTime, &child))
    return (socket, child)
  }

  /// Asks for the MIME name of bytes, without waiting for the answer. Only one question may be
  /// pending.
  ///
  /// - Returns: false when the child has ended.
  func send(_ question: detector_question, of bytes: UnsafeRawBufferPointer) -> Bool {
    guard let start = bytes.baseAddress else { return false }
    return unsafe detector_send(socket, nextSerial(), question, start, bytes.count)
  }

  /// Receives the answer, if there is one. After any answer except a name, the child is stopped and
  /// must not be asked again.
  func receive() -> Reply? {
    var answer = detector_answer()
    unsafe detector_receive(socket, serial, &answer)
    switch answer.end {
    case detector_silent: return nil
    case detector_named:
      isConfined = answer.is_confined
      return .named(unsafe withUnsafeBytes(of: &answer.name) { unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
    case detector_gone:
      stop()
      return .gone
    case detector_died:
      let signal = stop()
      return .failed(signal == SIGPROF || signal == SIGALRM ? .late : .died(signal: signal))
    default:
      stop()
      return .failed(.confused)
    }
  }
}

/// Why the detector gave no answer.
package enum DetectorFailure: Error, Equatable, CustomStringConvertible {
  /// No process could be created.
  case noProcess(SystemError)
  /// The bytes crashed the child. The signal is 0 when it is unknown.
  case died(signal: Int32)
  /// The bytes took too long.
  case late
  /// The child's answer is invalid.
  case confused

  package var description: String {
    switch self {
    case .noProcess(let error): "the type detector's process cannot start: \(error)"
    case .died(let signal): "the bytes crash the type detector (\(Self.name(of: signal))); check what the URL serves"
    case .late: "the type detector takes too long on the bytes; check what the URL serves"
    case .confused: "the type detector gives an invalid answer for the bytes; check what the URL serves"
    }
  }

  private static func name(of signal: Int32) -> String {
    guard signal > 0, let name = unsafe strsignal(signal) else { return "it ended" }
    return unsafe String(cString: name)
  }
}
