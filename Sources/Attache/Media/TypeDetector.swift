internal import CDetector
internal import CMagic
internal import Glibc

/// What the bytes of a file are.
package enum Detection: Equatable, Sendable {
  /// One of Apple's types.
  case accepted(MediaType)
  /// Not to be attached; `found` is libmagic's MIME name of what it is.
  case refused(Reason, found: String)
  /// The detector gave no answer: the bytes crash it, or the like.
  case undecided(DetectorFailure)
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

/// Says from a file's first bytes which of Apple's types it is: libmagic names the format, then ``MagicFormat`` reads the header.
///
/// A detector owns one `magic_t` and the ``DetectorProcess`` that uses it, which belong to one thread at a time. Making one maps libmagic's
/// database (0.2 ms once the file is in memory), and the first question forks the process, so make one a thread and keep it. Nothing in the
/// environment changes the database. The headers are read in this process, by code that cannot leave the bytes' bounds.
///
/// It is `@safe` because the cookie never leaves it: no caller can use one that is closed.
@safe
package final class TypeDetector {
  /// The bytes that are looked at: on Fixtures/media libmagic's answers are the same from 512 bytes to the whole file, except behind a long
  /// ID3 tag, which ``ID3Tag`` reads.
  package static let prefixLength = 4096

  /// The bytes in which text is looked for. libmagic's expressions for text take 60 ms over 4,096 line feeds, 2 ms over 512.
  private static let textLength = 512

  /// Only the magic numbers. What is switched off changes no answer on Fixtures/media but the names of kinds of text, and parses no hostile
  /// ELF, compound document or archive.
  private static let binaryFlags =
    MAGIC_MIME_TYPE | MAGIC_NO_CHECK_COMPRESS | MAGIC_NO_CHECK_APPTYPE | MAGIC_NO_CHECK_ELF | MAGIC_NO_CHECK_CDF | MAGIC_NO_CHECK_TOKENS
    | MAGIC_NO_CHECK_TEXT | MAGIC_NO_CHECK_ENCODING | MAGIC_NO_CHECK_JSON | MAGIC_NO_CHECK_CSV
  private static let textFlags = binaryFlags & ~(MAGIC_NO_CHECK_TEXT | MAGIC_NO_CHECK_ENCODING | MAGIC_NO_CHECK_JSON | MAGIC_NO_CHECK_CSV)

  /// libmagic's own limits, which hold if a flag above should fail to switch a check off:
  /// - indirect entries followed, 3 of 50: chained ID3 tags took 6 ms; Fixtures/media needs 2.
  /// - named entries within another, 10 of 50: Fixtures/media needs 2.
  /// - what is read of an ELF file (program headers, section headers, notes), nothing: no ELF file is looked into.
  /// - bytes that an expression is matched against, 512 of 8,192: an expression over 4,096 line feeds took 60 ms.
  /// - bytes looked at, and those in which an encoding is looked for: as many as it is given, where its own are 7 MiB and 64 KiB.
  private static let limits = [
    (MAGIC_PARAM_INDIR_MAX, 3), (MAGIC_PARAM_NAME_MAX, 10), (MAGIC_PARAM_ELF_PHNUM_MAX, 0), (MAGIC_PARAM_ELF_SHNUM_MAX, 0),
    (MAGIC_PARAM_ELF_NOTES_MAX, 0), (MAGIC_PARAM_REGEX_MAX, 512), (MAGIC_PARAM_BYTES_MAX, prefixLength),
    (MAGIC_PARAM_ENCODING_MAX, textLength),
  ]

  private static let unnamed = "application/octet-stream"

  private let cookie: magic_t
  private let play: DetectorPlay
  private var process: DetectorProcess?

  /// Opens libmagic and loads its database. Throws ``TypeDetectorError`` when that fails.
  ///
  /// - Parameter play: how the process misbehaves, for tests.
  package init(playing play: DetectorPlay = .honest) throws(TypeDetectorError) {
    guard let cookie = unsafe magic_open(Self.binaryFlags) else { throw .open(errno: errno) }
    unsafe self.cookie = cookie
    self.play = play
    guard let path = Self.databasePath else { throw .noDatabase }
    guard unsafe magic_load(cookie, path) == 0 else { throw .database(unsafe magic_error(cookie).map { unsafe String(cString: $0) } ?? "") }
    for (parameter, value) in Self.limits { try limit(parameter, to: value) }
  }

  deinit {
    unsafe magic_close(cookie)
  }

  /// Whether the process may call the kernel for memory, time and its socket only; nil before it has answered, false where the kernel has no
  /// seccomp.
  package var isConfined: Bool? { process?.isConfined }

  /// The number of the process, if there is one at the moment.
  var child: Int32? { process?.child }

  /// The path that libmagic was built with; `MAGIC` in the environment and `~/.magic` would name another.
  private static let databasePath: String? = {
    let longest = 4096
    return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: longest) { buffer in
      guard let start = buffer.baseAddress, unsafe detector_database(start, longest) != nil else { return nil }
      return unsafe String(cString: start)
    }
  }()

  /// Says what a file is.
  ///
  /// - Parameters:
  ///   - prefix: the file's first bytes; at most ``prefixLength`` of them are looked at. Give that many, or all there are.
  ///   - isComplete: whether the prefix is the whole file. A header that goes on behind the prefix is trusted only when it is not.
  package func detect(_ prefix: UnsafeRawBufferPointer, isComplete: Bool) -> Detection {
    let bytes = unsafe [UInt8](prefix.prefix(Self.prefixLength))
    guard !bytes.isEmpty else { return .refused(.sizeEmpty, found: "application/x-empty") }
    let head = FileHead(bytes: bytes, isWhole: isComplete && prefix.count == bytes.count)
    switch name(of: head) {
    case .success(let name): return Self.decide(head, name: name)
    case .failure(let failure): return .undecided(failure)
    }
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

  /// libmagic's MIME name; what text it may be is asked for only when neither the magic numbers nor the header say anything. Where libmagic
  /// gives up, as on input that drives it past its limits, the bytes have no name.
  private func name(of head: FileHead) -> Result<String, DetectorFailure> {
    let isText = MagicFormat(unnamed: head) == nil
    let question = detector_question(
      flags: Self.binaryFlags, text_flags: isText ? Self.textFlags : 0, text_bytes: UInt32(Self.textLength))
    // A process that went between two questions is replaced, and costs no file its answer.
    for _ in 0..<2 {
      switch ask(question, of: head.bytes) {
      case .named(let name): return .success(name)
      case .gone: process = nil
      case .failed(let failure):
        process = nil
        return .failure(failure)
      }
    }
    return .failure(.died(signal: 0))
  }

  private func ask(_ question: detector_question, of bytes: [UInt8]) -> DetectorProcess.Answer {
    do throws(SystemError) {
      if process == nil { process = try unsafe DetectorProcess(cookie: cookie, play: play) }
      guard let process else { return .gone }
      return unsafe bytes.withUnsafeBytes { unsafe process.ask(question, of: $0) }
    } catch {
      return .failed(.noProcess(error))
    }
  }

  /// `magic_setparam`.
  private func limit(_ parameter: Int32, to value: Int) throws(TypeDetectorError) {
    var value = value
    guard unsafe magic_setparam(cookie, parameter, &value) == 0 else { throw .parameter(parameter) }
  }
}
