/// The headers of the formats that libmagic calls video/mpeg.
///
/// Apple has two identifiers. public.mpeg is for .mpg, .mpeg, .m75 and .m15: a multiplex of MPEG-1
/// or MPEG-2, or an MPEG-1 elementary stream. public.mpeg-2-video is for .m2v: an MPEG-2 elementary
/// stream. So both program streams and MPEG-1 video are public.mpeg.
///
/// Source:
/// https://developer.apple.com/documentation/uniformtypeidentifiers/uttype-swift.struct/mpeg2video
/// and …/mpeg
enum MPEGVideoHeader {
  static func verdict(_ head: FileHead) -> HeadVerdict {
    switch head.big32(at: 0) {
    case 0x0000_01BA: programStream(head)
    case 0x0000_01B3: elementaryStream(head)
    default: .foreign
    }
  }

  /// A pack header. The bits after the start code are 0010 in MPEG-1 (12 bytes) and 01 in MPEG-2
  /// (14 bytes).
  ///
  /// Source: ISO/IEC 11172-1, 2.4.3.2, and ISO/IEC 13818-1, 2.5.3.3.
  private static func programStream(_ head: FileHead) -> HeadVerdict {
    guard let mark = head.byte(at: 4) else { return .broken }
    let length: Int
    if mark >> 4 == 0b0010 {
      length = 12
    } else if mark >> 6 == 0b01 {
      length = 14
    } else {
      return .broken
    }
    return head.count >= length ? .type(.mpeg) : .broken
  }

  /// A sequence header: 12 bytes and up to two matrices of 64 bytes. In MPEG-2, a sequence
  /// extension (B5) must follow at once; in MPEG-1, it must not.
  ///
  /// Source: ISO/IEC 11172-2, 2.4.2.3, and ISO/IEC 13818-2, 6.2.2.
  private static func elementaryStream(_ head: FileHead) -> HeadVerdict {
    let longestHeader = 12 + 2 * 64
    for offset in 11...longestHeader + 1 {
      guard let code = head.big32(at: offset) else { return .broken }
      if code >> 8 == 1 { return .type(code == 0x0000_01B5 ? .mpeg2 : .mpeg) }
    }
    return .broken
  }
}
