internal import CMagic
internal import Glibc

/// What the bytes of a file are.
package enum Detection: Equatable, Sendable {
  /// One of Apple's types.
  case accepted(MediaType)
  /// Not to be attached; `found` is libmagic's MIME name of what it is.
  case refused(Reason, found: String)
}

/// Why a detector could not be made.
package enum TypeDetectorError: Error, Equatable, CustomStringConvertible {
  /// `magic_open` failed with this errno.
  case open(errno: Int32)
  /// `magic_load` failed: its text says which database.
  case database(String)
  /// `magic_setparam` refused this parameter.
  case parameter(Int32)

  package var description: String {
    switch self {
    case .open(let number): "libmagic: \(unsafe String(cString: strerror(number)))"
    case .database(let text): "libmagic: \(text)"
    case .parameter(let number): "libmagic refuses its parameter \(number)"
    }
  }
}

/// Says from a file's first bytes which of Apple's types it is: libmagic names the format, then ``MagicFormat`` reads the header.
///
/// A detector owns one `magic_t`, which belongs to one thread at a time. Making it maps libmagic's database (0.2 ms once the file is in
/// memory), so make one a thread and keep it. `MAGIC` in the environment and `~/.magic` name another database, as for `file`.
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

  /// Indirect entries followed, where libmagic's own limit is 50: chained ID3 tags took 6 ms; three tags are plenty.
  private static let indirectLimit = 3
  /// Bytes that an expression is matched against, where libmagic's own limit is 8,192.
  private static let expressionLimit = 512

  private static let unnamed = "application/octet-stream"

  private let cookie: magic_t

  /// Opens libmagic and loads its database. Throws ``TypeDetectorError`` when that fails.
  package init() throws(TypeDetectorError) {
    guard let cookie = unsafe magic_open(Self.binaryFlags) else { throw .open(errno: errno) }
    unsafe self.cookie = cookie
    guard unsafe magic_load(cookie, nil) == 0 else { throw .database(unsafe magic_error(cookie).map { unsafe String(cString: $0) } ?? "") }
    try limit(MAGIC_PARAM_INDIR_MAX, to: Self.indirectLimit)
    try limit(MAGIC_PARAM_REGEX_MAX, to: Self.expressionLimit)
  }

  deinit {
    unsafe magic_close(cookie)
  }

  /// Says what a file is.
  ///
  /// - Parameters:
  ///   - prefix: the file's first bytes; at most ``prefixLength`` of them are looked at. Give that many, or all there are.
  ///   - isComplete: whether the prefix is the whole file. A header that goes on behind the prefix is trusted only when it is not.
  package func detect(_ prefix: UnsafeRawBufferPointer, isComplete: Bool) -> Detection {
    let bytes = unsafe [UInt8](prefix.prefix(Self.prefixLength))
    guard !bytes.isEmpty else { return .refused(.sizeEmpty, found: "application/x-empty") }
    let head = FileHead(bytes: bytes, isWhole: isComplete && prefix.count == bytes.count)
    return Self.decide(head, name: name(of: head))
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

  /// libmagic's MIME name; what text it may be is asked for only when neither the magic numbers nor the header say anything.
  private func name(of head: FileHead) -> String {
    let binary = ask(head.bytes[...], flags: Self.binaryFlags)
    guard binary == Self.unnamed, MagicFormat(unnamed: head) == nil else { return binary }
    return ask(head.bytes.prefix(Self.textLength), flags: Self.textFlags)
  }

  /// `magic_buffer`. Where libmagic gives up, as on input that drives it past its limits, the bytes have no name.
  private func ask(_ bytes: ArraySlice<UInt8>, flags: Int32) -> String {
    guard unsafe magic_setflags(cookie, flags) == 0 else { return Self.unnamed }
    return unsafe bytes.withUnsafeBytes { buffer in
      unsafe magic_buffer(cookie, buffer.baseAddress, buffer.count).map { unsafe String(cString: $0) } ?? Self.unnamed
    }
  }

  /// `magic_setparam`.
  private func limit(_ parameter: Int32, to value: Int) throws(TypeDetectorError) {
    var value = value
    guard unsafe magic_setparam(cookie, parameter, &value) == 0 else { throw .parameter(parameter) }
  }
}
