internal import CDetector
internal import Glibc

/// What the bytes of a file are.
package enum Detection: Equatable, Sendable {
  /// One of Apple's types.
  case accepted(MediaType)
  /// Not to be attached; `found` is libmagic's MIME name of what it is.
  case refused(Reason, found: String)
  /// The detector gave no answer: the bytes crash it, or the like.
  case undecided(DetectorFailure)

  /// What a file without any bytes is.
  static var empty: Detection { .refused(.sizeEmpty, found: "application/x-empty") }
}

/// Why a detector could not be made.
package enum TypeDetectorError: Error, Equatable, CustomStringConvertible {
  /// `magic_open` failed with this errno.
  case open(errno: Int32)
  /// libmagic does not say where its database is.
  case noDatabase
  /// `magic_load` failed: its text says which database.
  case database(String)
  /// `magic_setparam` refused this parameter.
  case parameter(Int32)

  package var description: String {
    switch self {
    case .open(let number): "libmagic: \(unsafe String(cString: strerror(number)))"
    case .noDatabase: "libmagic does not say where its database is"
    case .database(let text): "libmagic: \(text)"
    case .parameter(let number): "libmagic refuses its parameter \(number)"
    }
  }
}

/// Says from a file's first bytes which of Apple's types it is: libmagic names the format, then
/// ``MagicFormat`` reads the header.
///
/// What is beyond doubt is accepted by ``SignatureRules`` in this process. About all else
/// libmagic's own database is asked in the ``DetectorProcess``: it says what a refused file is.
/// Nothing in the environment changes the database. The headers are read in this process, by code
/// that cannot leave the bytes' bounds.
///
/// A detector belongs to one thread at a time. Making one maps libmagic's database (0.1 ms once the
/// file is in memory, of which nothing is read yet) and compiles the rules (0.05 ms); the first
/// question to the process forks it. So make one a thread and keep it.
package final class TypeDetector {
  /// The bytes that are looked at: on Fixtures/media libmagic's answers are the same from 512 bytes
  /// to the whole file, except behind a long ID3 tag, which ``ID3Tag`` reads.
  package static let prefixLength = 4096

  private static let unnamed = "application/octet-stream"

  private let rules: SignatureRules?
  private let database: MagicCookie
  private let play: DetectorPlay
  private var process: DetectorProcess?
  /// What the process is asked about, and how many processes have been asked.
  private var head: FileHead?
  private var tries = 0
  /// Processes that were ended and are still there.
  private var leftovers: [pid_t] = []

  /// Throws ``TypeDetectorError`` when libmagic's database cannot be mapped, whether or not it will
  /// be asked. Where the rules cannot be compiled, it is asked about every file.
  ///
  /// - Parameters:
  ///   - play: how the process misbehaves, for tests.
  ///   - asksAlways: whether the process is asked about every file: where the rules have been tried
  ///     already.
  package convenience init(playing play: DetectorPlay = .honest, asksAlways: Bool = false) throws(TypeDetectorError) {
    self.init(playing: play, asksAlways: asksAlways, database: try Self.loadDatabase())
  }

  /// - Parameter database: of ``loadDatabase()``. Only the processes use it, so that detectors may
  ///   share it.
  init(playing play: DetectorPlay, asksAlways: Bool, database: MagicCookie) {
    self.database = database
    rules = asksAlways ? nil : SignatureRules()
    self.play = play
  }

  /// Whether the process may call the kernel for memory, time and its socket only; nil before it
  /// has answered, false where the kernel has no seccomp.
  package var isConfined: Bool? { process?.isConfined }

  /// The number of the process, if there is one at the moment.
  var child: Int32? { process?.child }

  /// Opens what the detector's process needs of a file that this process may not open once it is
  /// confined.
  static func prepareToBeConfined() {
    detector_prepare()
  }

  /// Maps libmagic's own database.
  static func loadDatabase() throws(TypeDetectorError) -> MagicCookie {
    guard let path = databasePath else { throw .noDatabase }
    return try MagicCookie(loading: path)
  }

  /// The path that libmagic was built with; `MAGIC` in the environment and `~/.magic` would name
  /// another.
  private static let databasePath: String? = {
    let longest = 4096
    return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: longest) { buffer in
      guard let start = buffer.baseAddress, unsafe detector_database(start, longest) != nil else { return nil }
      return unsafe String(cString: start)
    }
  }()

  /// Says what a file is; waits for the process, if it is asked.
  ///
  /// - Parameters:
  ///   - prefix: the file's first bytes; at most ``prefixLength`` of them are looked at. Give that
  ///     many, or all there are.
  ///   - isComplete: whether the prefix is the whole file. A header that goes on behind the prefix
  ///     is trusted only when it is not.
  package func detect(_ prefix: UnsafeRawBufferPointer, isComplete: Bool) -> Detection {
    let bytes = unsafe [UInt8](prefix.prefix(Self.prefixLength))
    guard !bytes.isEmpty else { return .empty }
    let head = FileHead(bytes: bytes, isWhole: isComplete && prefix.count == bytes.count)
    if let type = rules?.type(of: head) { return .accepted(type) }
    return ask(about: head) ?? wait()
  }

  private func wait() -> Detection {
    let end = MonotonicInstant.now.advanced(by: DetectorProcess.waitLimit)
    while let socket {
      var poll = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
      let count = unsafe Glibc.poll(&poll, 1, end.pollTimeout)
      if count > 0, let detection = handle() { return detection }
      if count == 0, MonotonicInstant.now >= end { break }
    }
    return giveUp()
  }

  // MARK: Without waiting

  /// What is readable when the process has answered.
  var socket: Int32? { process?.socket }

  /// Asks the process about a file. One question at a time.
  ///
  /// - Parameter head: with one byte at least.
  /// - Returns: nil when there will be an answer for ``handle()``.
  func ask(about head: FileHead) -> Detection? {
    (self.head, tries) = (head, 0)
    return put()
  }

  /// Takes the process's answer.
  ///
  /// - Returns: nil when there is none yet; the process, and with it ``socket``, may be another
  ///   now.
  func handle() -> Detection? {
    guard let head, let process else { return nil }
    switch process.receive() {
    case nil: return nil
    case .named(let name): return Self.decide(head, name: name)
    case .gone: return put()
    case .failed(let failure):
      release()
      return .undecided(failure)
    }
  }

  /// Ends the process, which has taken too long.
  func giveUp() -> Detection {
    process?.giveUp()
    release()
    return .undecided(.late)
  }

  /// Ends the process, of whatever use it was.
  func close() {
    process?.giveUp()
    release()
    head = nil
  }

  /// Whether a process that was ended is still there.
  var hasLeftovers: Bool {
    leftovers.removeAll { DetectorProcess.isGone($0) }
    return !leftovers.isEmpty
  }

  private func release() {
    if let leftover = process?.leftover { leftovers.append(leftover) }
    process = nil
  }

  /// Puts the question to the process. What text the bytes may be is asked for only when neither
  /// the magic numbers nor the header say anything. A process that has gone since the question
  /// before is replaced, once, and costs no file its answer.
  private func put() -> Detection? {
    guard let head else { return .empty }
    let isText = MagicFormat(unnamed: head) == nil
    let question = detector_question(
      flags: MagicCookie.binaryFlags, text_flags: isText ? MagicCookie.textFlags : 0, text_bytes: UInt32(MagicCookie.textLength))
    while tries < 2 {
      if tries > 0 { release() }
      tries += 1
      do throws(SystemError) {
        if process == nil { process = try DetectorProcess(database: database, play: play) }
        if let process, unsafe head.bytes.withUnsafeBytes({ unsafe process.send(question, of: $0) }) { return nil }
      } catch {
        return .undecided(.noProcess(error))
      }
    }
    release()
    return .undecided(.died(signal: 0))
  }

  /// Decides from libmagic's name and the header.
  static func decide(_ head: FileHead, name: String) -> Detection {
    guard let format = MagicFormat(mime: name) ?? (name == unnamed ? MagicFormat(unnamed: head) : nil) else {
      return .refused(name == unnamed ? .typeUnknown : .typeUnsupported, found: name)
    }
    switch format.verdict(head) {
    case .type(let type): return .accepted(type)
    case .foreign: return .refused(.typeUnsupported, found: name)
    case .broken: return .refused(.typeUnknown, found: name)
    }
  }
}
