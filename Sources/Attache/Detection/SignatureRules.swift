internal import CLinux
internal import CMagic
internal import Glibc

/// Magic rules for the accepted formats, which libmagic runs in this process. Most files need no
/// question to the ``DetectorProcess``.
///
/// The answer is the same as from libmagic's own database, or there is none. The rules require more
/// of a head than that database does, the header must be valid, and ``ConflictingSignatures``
/// excludes what other rules of the database would match first. The child decides on all other
/// files and names their types.
///
/// libmagic may inspect hostile bytes in this process, because these rules use little of its code.
/// They compare strings and numbers at fixed offsets, without regular expressions, searches,
/// indirection, named entries or format strings. All checks that are built into libmagic are
/// disabled. Only `mcopy`, `mconvert` and `magiccheck` of softmagic.c (5.44) read the bytes: they
/// copy at most 128 of them, from a checked offset, and compare them. The output is one of the MIME
/// names below.
final class SignatureRules {
  private static let flags = MagicCookie.binaryFlags | MAGIC_NO_CHECK_TAR | MAGIC_RAW

  private let cookie: MagicCookie

  /// Compiles the rules, which takes 0.05 ms. Returns nil when they cannot be passed to libmagic,
  /// which reads files by name: there is no memory file (`memfd_create`), or no folder of
  /// descriptors.
  ///
  /// - Parameter descriptors: the folder where the system shows the process its descriptors as
  ///   files.
  init?(descriptors: String = "/proc/self/fd") {
    let file = unsafe linux_memfd_create("magic")
    guard file >= 0 else { return nil }
    defer { close(file) }
    var text = Self.text
    let written = text.withUTF8 { unsafe write(file, $0.baseAddress, $0.count) }
    guard written == text.utf8.count, let cookie = try? MagicCookie(loading: "\(descriptors)/\(file)", flags: Self.flags) else {
      return nil
    }
    self.cookie = cookie
  }

  /// Returns the type of a file if it is certain, otherwise nil.
  func type(of head: FileHead) -> MediaType? {
    guard let format = format(of: head), case .type(let type) = format.verdict(head), !ConflictingSignatures.appears(in: head) else {
      return nil
    }
    switch format {
    case .jpeg, .png, .gif, .aiff, .wave, .avi, .mpegVideo: return type
    case .mpegAudio: return isSoundAlone(head) ? type : nil
    // If libmagic has no name for a brand, the brand's box decides.
    case .isoMedia: return type
    }
  }

  /// libmagic looks for all its formats behind an ID3 tag. If it has no name for those bytes, the
  /// tag or three frames decide.
  private func isSoundAlone(_ head: FileHead) -> Bool {
    guard MagicFormat(unnamed: head) == .mpegAudio else { return false }
    guard let start = ID3Tag(head, at: 0)?.length, start < head.count else { return true }
    guard let sync = head.big16(at: start) else { return false }
    return sync | 1 == 0xFFFB && !ConflictingSignatures.appears(in: head, from: start)
  }

  /// Calls `magic_buffer`.
  private func format(of head: FileHead) -> MagicFormat? {
    unsafe head.bytes.withUnsafeBytes { bytes in
      unsafe magic_buffer(cookie.handle, bytes.baseAddress, bytes.count).flatMap { unsafe MagicFormat(mime: String(cString: $0)) }
    }
  }

  /// The rules, in the language of magic(5). Conditions that are not obvious exclude other formats:
  /// small pictures (PNG), square pixels (GIF), less than 16 MiB (RIFF and FORM), nothing before
  /// the description (RIFF and FORM), no stuffing and no matrices (MPEG).
  private static let text = #"""
    0 ubelong&0xffffff00 0xffd8ff00 JPEG
    !:mime image/jpeg

    0 string \x89PNG\x0d\x0a\x1a\x0a\x00\x00\x00\x0dIHDR
    >16 ubyte 0
    >>20 ubyte 0 PNG
    !:mime image/png

    0 string GIF87a
    >12 ubyte 0 GIF
    !:mime image/gif
    >12 ubyte 49 GIF
    !:mime image/gif
    0 string GIF89a
    >12 ubyte 0 GIF
    !:mime image/gif
    >12 ubyte 49 GIF
    !:mime image/gif

    0 string RIFF
    >7 ubyte 0
    >>8 string WAVEfmt\040
    >>>16 ulelong <64 WAVE
    !:mime audio/x-wav
    >>8 string AVI\040LIST
    >>>20 string hdrlavih8\x00\x00\x00 AVI
    !:mime video/x-msvideo

    0 string FORM\x00
    >8 string AIFFCOMM\x00\x00\x00\x12 AIFF
    !:mime audio/x-aiff
    >8 string AIFCFVER\x00\x00\x00\x04 AIFF-C
    !:mime audio/x-aiff

    4 string ftyp
    >0 ubelong <256
    >>8 string iso MPEG-4
    !:mime video/mp4
    >>8 string mp4 MPEG-4
    !:mime video/mp4
    >>8 string M4A\040 MPEG-4 audio
    !:mime audio/x-m4a
    >>8 string M4B\040 MPEG-4 audio
    !:mime audio/mp4
    >>8 string avc1 MPEG-4
    !:mime video/mp4
    >>8 string dash MPEG-4
    !:mime video/mp4

    0 ubeshort&0xfffe 0xfffa MP3
    !:mime audio/mpeg

    0 string ID3
    >3 ubelong&0x00ff1f80 0
    >>10 ubyte 0 MP3 behind a tag
    !:mime audio/mpeg
    >>10 ubyte >0x40
    >>>10 ubyte <0x5b MP3 behind a tag
    !:mime audio/mpeg

    0 ubelong 0x000001ba
    >4 ubelong&0xf1000100 0x21000100
    >>8 ubelong&0x01800001 0x01800001
    >>>12 ubelong&0xffffff00 0x100 MPEG-1 program stream
    !:mime video/mpeg
    >4 ubelong&0xc4000400 0x44000400
    >>8 ubelong&0x04010000 0x04010000
    >>>12 ubelong&0x03ffffff 0x03f80000
    >>>>16 ubyte 1 MPEG-2 program stream
    !:mime video/mpeg

    0 ubelong 0x000001b3
    >8 ubelong&0x00002000 0x2000
    >>12 ubelong&0xffffff00 0x100 MPEG video
    !:mime video/mpeg

    """#
}
