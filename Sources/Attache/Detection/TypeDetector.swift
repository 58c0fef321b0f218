internal import CDetector
internal import Glibc

/// The result of type detection for a file.
package enum Detection: Equatable, Sendable {
  /// The type that the bytes show.
  case accepted(MediaType)
  /// The file must not be attached. `found` is libmagic's MIME name for its type.
  case refused(Reason, found: String)
  /// The detector gave no answer, for example because the bytes crash it.
  case undecided(DetectorFailure)

  /// Whether the file may be an MP3 that does not begin with its sound, which is for
  /// ``MPEGAudioFrame/isSound(in:from:)`` to say.
  var mayHideSound: Bool {
    guard case .refused(.typeUnknown, let found) = self else { return false }
    return found == TypeDetector.unnamed || MagicFormat(mime: found) == .mpegAudio
  }

  /// The result for an empty file.
  static var empty: Detection { .refused(.sizeEmpty, found: "application/x-empty") }
}

/// The reason why a detector could not be created.
package enum TypeDetectorError: Error, Equatable, CustomStringConvertible {
  /// `magic_open` failed with this errno.
  case open(errno: Int32)
  /// libmagic does not say where its database is.
  case noDatabase
  /// `magic_load` failed. Its text names the database.
  case database(String)
  /// `magic_setparam` refused this parameter.
  case parameter(Int32)

  package var description: String {
    switch self {
    case .open(let number): "libmagic: \(SystemError.text(number))"
    case .noDatabase: "libmagic does not say where its database is"
    case .database(let text): "libmagic: \(text)"
    case .parameter(let number): "libmagic refuses its parameter \(number)"
    }
  }
}

/// Detects which of Apple's types a file is, from its first bytes. libmagic names the format, then
/// ``MagicFormat`` reads the header.
///
/// ``SignatureRules`` accepts files whose type is certain, in this process. For all other files,
/// the ``DetectorProcess`` uses libmagic's own database, which also names the type of a refused
/// file. The environment cannot change the database. The headers are read in this process, by code
/// that cannot read outside the bounds of the bytes.
///
/// A detector is used by one thread at a time. Creating one maps libmagic's database (0.1 ms once
/// the file is in memory; none of it is read yet). The first question to the process forks it. So
/// create one per thread and keep it.
package final class TypeDetector {
  /// The maximum number of bytes that are inspected. On Fixtures/media, libmagic's answers are the
  /// same from 512 bytes to the whole file, except behind a long ID3 tag, which ``ID3Tag`` reads.
  package static let prefixLength = 4096

  fileprivate static let unnamed = "application/octet-stream"
  /// The name of a PNG that Xcode optimised for an app, for which there is no MIME name.
  static let appPicture = "image/png (CgBI)"

  private let asksAlways: Bool
  private let database: MagicCookie
  private var process: DetectorProcess?
  /// The head that the process is asked about, and the number of processes that were asked.
  private var head: FileHead?
  private var tries = 0

  /// Creates a detector. Throws ``TypeDetectorError`` when libmagic's database cannot be mapped,
  /// even if it is never asked.
  ///
  /// - Parameters:
  ///   - asksAlways: whether the process is asked about every file, for callers that have tried
  ///     ``SignatureRules`` already.
  package convenience init(asksAlways: Bool = false) throws(TypeDetectorError) {
    self.init(asksAlways: asksAlways, database: try Self.loadDatabase())
  }

  /// - Parameter database: the result of ``loadDatabase()``. Only the processes use it, so
  ///   detectors may share it.
  init(asksAlways: Bool, database: MagicCookie) {
    self.database = database
    self.asksAlways = asksAlways
  }

  /// Whether the process may only call the kernel for memory, time and its socket; nil before its
  /// first answer, false when the kernel has no seccomp.
  package var isConfined: Bool? { process?.isConfined }

  /// The process ID of the process, if there is one.
  var child: Int32? { process?.child }

  /// Maps libmagic's own database.
  static func loadDatabase() throws(TypeDetectorError) -> MagicCookie {
    guard let path = databasePath else { throw .noDatabase }
    return try MagicCookie(loading: path)
  }

  /// The path that libmagic was built with. `MAGIC` in the environment and `~/.magic` do not change
  /// it.
  private static let databasePath: String? = {
    let longest = 4096
    return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: longest) { buffer in
      guard let start = buffer.baseAddress, unsafe detector_database(start, longest) != nil else { return nil }
      return unsafe String(cString: start)
    }
  }()

  /// Detects the type of a file. Waits for the process, if it is asked.
  ///
  /// - Parameters:
  ///   - prefix: the file's first bytes. At most ``prefixLength`` of them are inspected. Pass that
  ///     many, or all there are.
  ///   - isComplete: whether the prefix is the whole file. If it is, a header that continues past
  ///     the prefix is not trusted.
  package func detect(_ prefix: UnsafeRawBufferPointer, isComplete: Bool) -> Detection {
    let bytes = unsafe [UInt8](prefix.prefix(Self.prefixLength))
    guard !bytes.isEmpty else { return .empty }
    let head = FileHead(bytes: bytes, isWhole: isComplete && prefix.count == bytes.count)
    if !asksAlways, let type = SignatureRules.type(of: head) { return .accepted(type) }
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

  /// The descriptor that becomes readable when the process has answered.
  var socket: Int32? { process?.socket }

  /// Asks the process about a file. Only one question may be pending.
  ///
  /// - Parameter head: must have at least one byte.
  /// - Returns: nil when ``handle()`` will return the answer.
  func ask(about head: FileHead) -> Detection? {
    (self.head, tries) = (head, 0)
    return put()
  }

  /// Receives the process's answer.
  ///
  /// - Returns: nil when there is none yet. The process, and with it ``socket``, may have been
  ///   replaced.
  func handle() -> Detection? {
    guard let head, let process else { return nil }
    switch process.receive() {
    case nil: return nil
    case .named(let name): return Self.decide(head, name: name)
    case .gone: return put()
    case .failed(let failure):
      self.process = nil
      return .undecided(failure)
    }
  }

  /// Stops the process because it has taken too long.
  func giveUp() -> Detection {
    close()
    return .undecided(.late)
  }

  /// Stops the process, if there is one.
  func close() {
    process?.stop()
    (process, head) = (nil, nil)
  }

  /// Sends the question to the process. Text types are checked only when neither the magic numbers
  /// nor the header give an answer. A process that has ended since the last question is replaced
  /// once, so that the file still gets its answer.
  private func put() -> Detection? {
    guard let head else { return .empty }
    let isText = MagicFormat(unnamed: head) == nil
    let question = detector_question(
      flags: MagicCookie.binaryFlags, text_flags: isText ? MagicCookie.textFlags : 0, text_bytes: UInt32(MagicCookie.textLength))
    while tries < 2 {
      if tries > 0 { process = nil }
      tries += 1
      do throws(SystemError) {
        if process == nil { process = try DetectorProcess(database: database) }
        if let process, unsafe head.bytes.withUnsafeBytes({ unsafe process.send(question, of: $0) }) { return nil }
      } catch {
        return .undecided(.noProcess(error))
      }
    }
    process = nil
    return .undecided(.died(signal: 0))
  }

  /// Decides from libmagic's name and the header.
  static func decide(_ head: FileHead, name: String) -> Detection {
    guard let format = MagicFormat(mime: name) ?? (name == unnamed ? MagicFormat(unnamed: head) : nil) else {
      return .refused(name == unnamed ? .typeUnknown : .typeUnsupported, found: name)
    }
    switch format.verdict(head) {
    case .type(let type): return .accepted(type)
    case .foreign: return .refused(.typeUnsupported, found: format == .png && PNGWalk.isForApp(head) ? appPicture : name)
    case .broken: return .refused(.typeUnknown, found: name)
    }
  }
}
