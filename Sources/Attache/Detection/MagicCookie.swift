internal import CMagic
internal import Glibc

/// A `magic_t`: libmagic with its limits and one database. Used by one thread at a time.
///
/// It is `@safe` because the handle is closed with the last reference to its owner.
@safe
final class MagicCookie {
  /// The number of bytes that are searched for text. libmagic's regular expressions for text take
  /// 60 ms over 4,096 line feeds, and 2 ms over 512.
  static let textLength = 512

  /// Checks magic numbers only. On Fixtures/media, the disabled checks change no answer except the
  /// names of text types. With these flags, no hostile ELF file, compound document or archive is
  /// parsed.
  static let binaryFlags =
    MAGIC_MIME_TYPE | MAGIC_NO_CHECK_COMPRESS | MAGIC_NO_CHECK_APPTYPE | MAGIC_NO_CHECK_ELF | MAGIC_NO_CHECK_CDF | MAGIC_NO_CHECK_TOKENS
    | MAGIC_NO_CHECK_TEXT | MAGIC_NO_CHECK_ENCODING | MAGIC_NO_CHECK_JSON | MAGIC_NO_CHECK_CSV
  static let textFlags = binaryFlags & ~(MAGIC_NO_CHECK_TEXT | MAGIC_NO_CHECK_ENCODING | MAGIC_NO_CHECK_JSON | MAGIC_NO_CHECK_CSV)

  /// libmagic's own limits, for the case that a flag above does not disable a check:
  /// - indirect entries followed: 3 instead of 50. Chained ID3 tags took 6 ms; Fixtures/media needs
  ///   2.
  /// - named entries within another: 10 instead of 50. Fixtures/media needs 2.
  /// - parts read of an ELF file (program headers, section headers, notes): 0. No ELF file is
  ///   inspected.
  /// - bytes matched against an expression: 512 instead of 8,192. An expression over 4,096 line
  ///   feeds took 60 ms.
  /// - bytes inspected, and bytes searched for an encoding: as many as libmagic is given. Its own
  ///   limits are 7 MiB and 64 KiB.
  private static let limits = [
    (MAGIC_PARAM_INDIR_MAX, 3), (MAGIC_PARAM_NAME_MAX, 10), (MAGIC_PARAM_ELF_PHNUM_MAX, 0), (MAGIC_PARAM_ELF_SHNUM_MAX, 0),
    (MAGIC_PARAM_ELF_NOTES_MAX, 0), (MAGIC_PARAM_REGEX_MAX, 512), (MAGIC_PARAM_BYTES_MAX, TypeDetector.prefixLength),
    (MAGIC_PARAM_ENCODING_MAX, textLength),
  ]

  /// The argument of libmagic's functions.
  let handle: magic_t

  /// Calls `magic_open`, `magic_load` and `magic_setparam`.
  ///
  /// - Parameter path: one or more databases, separated by colons. Each is text, or compiled by
  ///   `file -C`.
  /// - Throws: ``TypeDetectorError`` when one of the three calls fails.
  init(loading path: String, flags: Int32 = binaryFlags) throws(TypeDetectorError) {
    guard let handle = unsafe magic_open(flags) else { throw .open(errno: errno) }
    unsafe self.handle = handle
    guard unsafe magic_load(handle, path) == 0 else { throw .database(unsafe magic_error(handle).map { unsafe String(cString: $0) } ?? "") }
    for (parameter, value) in Self.limits {
      var value = value
      guard unsafe magic_setparam(handle, parameter, &value) == 0 else { throw .parameter(parameter) }
    }
  }

  deinit {
    unsafe magic_close(handle)
  }
}
