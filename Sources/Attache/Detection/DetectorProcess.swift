internal import CDetector
internal import Glibc

/// What a detector's child is played to do with bytes that begin with ``mark``; only tests ask for
/// another than ``honest``.
package enum DetectorPlay: Sendable {
  case honest, crashes, spins, waits, babbles, breaksOut, leaves

  /// What the bytes that a played child misbehaves on begin with.
  package static let mark = detector_play_mark

  fileprivate var code: detector_play {
    switch self {
    case .honest: detector_honest
    case .crashes: detector_crashes
    case .spins: detector_spins
    case .waits: detector_waits
    case .babbles: detector_babbles
    case .breaksOut: detector_breaks_out
    case .leaves: detector_leaves
    }
  }
}

/// A child process in which libmagic looks at bytes: what crashes or hangs it costs one file its
/// answer, and no more.
///
/// A thread would take the whole process along. The child is forked and runs on in the image that
/// it has, since an executable of its own would have to be found beside every program that uses the
/// library, and to load the database anew: it answers first after 1.4 ms, a fork after 0.5 ms. It
/// runs C alone, holds no descriptor but its socket and no right but to memory, time and that
/// socket (seccomp); a question through it takes 19 µs where libmagic alone takes 9 µs, and
/// seccomp adds nothing to that which can be measured. It shares all but some 2 MB with its parent.
///
/// It belongs to one thread at a time, which waits for no answer, and 100 ms at most for its end.
/// Whoever waits for every child of the process (`waitpid(-1)`) may reap it, and does no harm.
final class DetectorProcess {
  enum Reply {
    case named(String)
    /// The child was gone before it took the question: another may be asked.
    case gone
    case failed(DetectorFailure)
  }

  /// Processor time that a question may take, where the slowest bytes known take 2 ms.
  static let processorLimit = Duration.milliseconds(100)
  /// Time that an answer may take, which a child that only waits uses up; a machine under load
  /// needs some for 10 µs of work.
  static let waitLimit = Duration.seconds(2)

  /// Readable once there is an answer.
  let socket: Int32
  /// Its number.
  let child: pid_t
  private var serial: UInt32 = 0
  private var isStopped = false
  /// A child that was ended and is still there.
  private(set) var leftover: pid_t?
  /// Whether the kernel holds the child to the calls that it needs; nil before the first answer.
  private(set) var isConfined: Bool?

  /// - Throws: ``SystemError`` when the system gives no process.
  init(database: MagicCookie, play: DetectorPlay) throws(SystemError) {
    var child: pid_t = 0
    let processorTime = Int32(Self.processorLimit / .milliseconds(1))
    let waitTime = Int32(Self.waitLimit / .milliseconds(1))
    socket = try SystemError.check("fork", unsafe detector_start(database.handle, processorTime, waitTime, play.code, &child))
    self.child = child
  }

  deinit {
    if !isStopped { stop() }
  }

  /// Asks for the MIME name of bytes, and does not wait for it. One question at a time.
  ///
  /// - Returns: false when the child has gone.
  func send(_ question: detector_question, of bytes: UnsafeRawBufferPointer) -> Bool {
    guard let start = bytes.baseAddress else { return false }
    serial &+= 1
    return unsafe detector_send(socket, serial, question, start, bytes.count)
  }

  /// Takes the answer, if there is one. After another answer than a name the child is ended, and
  /// not to be asked again.
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

  /// Ends the child.
  ///
  /// - Returns: the signal that it died of, 0 where that is not known.
  @discardableResult
  private func stop() -> Int32 {
    isStopped = true
    var isGone = false
    let signal = unsafe detector_stop(socket, child, &isGone)
    leftover = isGone ? nil : child
    return signal
  }

  /// Ends the child, which has taken too long.
  func giveUp() {
    stop()
  }

  /// Whether a child that was left has ended.
  static func isGone(_ leftover: pid_t) -> Bool {
    detector_is_gone(leftover)
  }
}

/// Why the detector gave no answer.
package enum DetectorFailure: Error, Equatable, CustomStringConvertible {
  /// There was no process to be had.
  case noProcess(SystemError)
  /// The child died of the bytes; 0 where the signal is not known.
  case died(signal: Int32)
  /// The bytes took too long.
  case late
  /// What the child answered is no answer.
  case confused

  package var description: String {
    switch self {
    case .noProcess(let error): "there is no process for the type detector (\(error)); raise the limit on processes or make memory free"
    case .died(let signal): "the bytes crash the type detector (\(Self.name(of: signal))); check what the URL serves"
    case .late: "the bytes take the type detector too long; check what the URL serves"
    case .confused: "the bytes confuse the type detector; check what the URL serves"
    }
  }

  private static func name(of signal: Int32) -> String {
    guard signal > 0, let name = unsafe strsignal(signal) else { return "it ended" }
    return unsafe String(cString: name)
  }
}
