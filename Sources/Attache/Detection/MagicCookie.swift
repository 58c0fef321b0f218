internal import CMagic
internal import Glibc

/// A `magic_t`: libmagic with its limits and one database, for one thread at a time.
///
/// It is `@safe` because the handle is closed with the last reference to its owner.
@safe
final class MagicCookie {
  /// The bytes in which text is looked for. libmagic's expressions for text take 60 ms over 4,096
  /// line feeds, 2 ms over 512.
  static let textLength = 512

  /// Only the magic numbers. What is switched off changes no answer on Fixtures/media but the names
  /// of kinds of text, and parses no hostile ELF, compound document or archive.
  static let binaryFlags =
    MAGIC_MIME_TYPE | MAGIC_NO_CHECK_COMPRESS | MAGIC_NO_CHECK_APPTYPE | MAGIC_NO_CHECK_ELF | MAGIC_NO_CHECK_CDF | MAGIC_NO_CHECK_TOKENS
    | MAGIC_NO_CHECK_TEXT | MAGIC_NO_CHECK_ENCODING | MAGIC_NO_CHECK_JSON | MAGIC_NO_CHECK_CSV
  static let textFlags = binaryFlags & ~(MAGIC_NO_CHECK_TEXT | MAGIC_NO_CHECK_ENCODING | MAGIC_NO_CHECK_JSON | MAGIC_NO_CHECK_CSV)

  /// libmagic's own limits, which hold if a flag above should fail to switch a check off:
  /// - indirect entries followed, 3 of 50: chained ID3 tags took 6 ms; Fixtures/media needs 2.
  /// - named entries within another, 10 of 50: Fixtures/media needs 2.
  /// - what is read of an ELF file (program headers, section headers, notes), nothing: no ELF file
  ///   is looked into.
  /// - bytes that an expression is matched against, 512 of 8,192: an expression over 4,096 line
  ///   feeds took 60 ms.
  /// - bytes looked at, and those in which an encoding is looked for: as many as it is given, where
  ///   its own are 7 MiB and 64 KiB.
  private static let limits = [
    (MAGIC_PARAM_INDIR_MAX, 3), (MAGIC_PARAM_NAME_MAX, 10), (MAGIC_PARAM_ELF_PHNUM_MAX, 0), (MAGIC_PARAM_ELF_SHNUM_MAX, 0),
    (MAGIC_PARAM_ELF_NOTES_MAX, 0), (MAGIC_PARAM_REGEX_MAX, 512), (MAGIC_PARAM_BYTES_MAX, TypeDetector.prefixLength),
    (MAGIC_PARAM_ENCODING_MAX, textLength),
  ]

  /// What libmagic's functions take.
  let handle: magic_t

  /// `magic_open`, `magic_load` and `magic_setparam`.
  ///
  /// - Parameter path: one or several databases, with colons between; text, or what `file -C` made
  ///   of it.
  /// - Throws: ``TypeDetectorError`` when one of the three fails.
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
