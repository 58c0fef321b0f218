/// The meaning of the major brand of an ISO base media file.
///
/// Only the major brand counts: nearly every related format (HEIC, 3GPP, QuickTime's successors,
/// camera raw) lists `isom` as a compatible brand. Brands that are not listed here, such as `qt `,
/// `M4V `, `M4P ` (protected), `3gp*`, `f4v ` and `crx `, are not Apple's public.mpeg-4.
///
/// Source: https://mp4ra.org/registered-types/brands
enum ISOBrand: Equatable {
  /// The brand promises only sound: `M4A `, `M4B ` (an unprotected book with the same container and
  /// codec) and Nero's `NDAS`.
  case audio
  /// MPEG-4 with sound, pictures or both.
  case movie

  /// - Parameter code: the four bytes of the brand, big-endian.
  init?(code: Int) {
    let bytes = [24, 16, 8, 0].map { UInt8(code >> $0 & 0xFF) }
    switch String(decoding: bytes, as: UTF8.self) {
    case "M4A ", "M4B ", "NDAS": self = .audio
    case "isom", "iso2", "iso3", "iso4", "iso5", "iso6", "iso7", "iso8", "iso9", "isoa", "isob", "isoc": self = .movie
    case "mp41", "mp42", "mmp4", "avc1", "avc3", "hvc1", "hev1", "av01", "dash", "cmfc", "cmf2", "cmff": self = .movie
    case "MSNV", "XAVC", "NDSC", "NDSH", "NDSM", "NDSP", "NDSS", "NDXC", "NDXH", "NDXM", "NDXP", "NDXS": self = .movie
    default: return nil
    }
  }

  /// Returns the verdict on a head. A file of a movie brand is audio when the head shows all its
  /// tracks and each contains sound. If the head does not show them all, the file is video.
  static func verdict(_ head: FileHead) -> HeadVerdict {
    guard head.holds("ftyp", at: 4), let code = head.big32(at: 8) else { return .broken }
    guard let brand = ISOBrand(code: code) else { return .foreign }
    let index = ISOIndex(head)
    let type: MediaType =
      switch brand {
      case .audio: .mpeg4Audio
      case .movie: index.isSoundAlone ? .mpeg4Audio : .mpeg4
      }
    switch index.place {
    case .seen: return .type(type)
    case .beyond: return head.beyond(type)
    case .missing: return .broken
    }
  }
}
