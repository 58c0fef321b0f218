/// A format of pictures that a conversion reads. The raw value is its MIME type.
public enum PictureFormat: String, CaseIterable, Sendable {
  /// One of Apple's types.
  case jpeg = "image/jpeg"
  /// One of Apple's types.
  case png = "image/png"
  /// One of Apple's types.
  case gif = "image/gif"
  /// Still or animated.
  case webp = "image/webp"
  /// HEVC in HEIF.
  case heic = "image/heic"
  /// AV1 in HEIF.
  case avif = "image/avif"
  /// HEIF whose first brand does not name the codec.
  case heif = "image/heif"
  /// The first page is read.
  case tiff = "image/tiff"

  /// Returns the format of one of Apple's types; nil for a type that is not a picture's.
  init?(_ type: MediaType) {
    switch type {
    case .jpeg: self = .jpeg
    case .png: self = .png
    case .gif: self = .gif
    case .aiff, .wave, .mp3, .mpeg4Audio, .mpeg, .mpeg2, .mpeg4, .avi: return nil
    }
  }

  /// Returns the format that Apple does not accept and that libmagic (5.44 or later) names so; nil
  /// for any other name.
  init?(foreign name: String) {
    switch name {
    case "image/webp": self = .webp
    case "image/heic", "image/heic-sequence": self = .heic
    case "image/avif", "image/avif-sequence": self = .avif
    case "image/heif", "image/heif-sequence": self = .heif
    case "image/tiff": self = .tiff
    default: return nil
    }
  }
}

/// What a conversion made of a picture.
public struct PictureConversion: Hashable, Sendable {
  /// The format of the picture that was downloaded.
  public var from: PictureFormat
  /// The size of the result, in bytes.
  public var size: Int
  /// The size of the result, in pixels.
  public var width, height: Int
  /// Whether the download was a JPEG that its structure shows to be damaged, and that the converter
  /// could read nevertheless.
  public var isRepair: Bool

  /// Makes a description.
  public init(from: PictureFormat, size: Int, width: Int, height: Int, isRepair: Bool = false) {
    (self.from, self.size, self.width, self.height, self.isRepair) = (from, size, width, height, isRepair)
  }
}

extension PictureFormat {
  private static let all = allCases

  /// The number in a frame and in the index, from 1. The numbers are on disk: a new format comes
  /// last.
  var code: UInt8 { UInt8((Self.all.firstIndex(of: self) ?? 0) + 1) }

  init?(code: UInt8) {
    guard code > 0, Int(code) <= Self.all.count else { return nil }
    self = Self.all[Int(code) - 1]
  }
}

extension PictureConversion {
  private static let repair: UInt8 = 0x80

  /// The number of the format in a frame and in the index, with the highest bit for a repair.
  var code: UInt8 { from.code | (isRepair ? Self.repair : 0) }

  init?(code: UInt8, size: Int, width: Int, height: Int) {
    guard let from = PictureFormat(code: code & ~Self.repair) else { return nil }
    self.init(from: from, size: size, width: width, height: height, isRepair: code & Self.repair != 0)
  }
}
