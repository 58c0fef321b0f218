@_exported import Groundwork

/// A type of file.
public struct UTType: Hashable, Sendable {
  public let identifier: String

  public init?(_ identifier: String) {
    guard let type = FileType(identifier: identifier) else { return nil }
    self.identifier = type.identifier
  }

  public init?(filenameExtension: String, conformingTo supertype: UTType = .data) {
    guard let type = FileType(fileExtension: filenameExtension) else { return nil }
    self.init(type, conformingTo: supertype)
  }

  public init?(mimeType: String, conformingTo supertype: UTType = .data) {
    guard let type = FileType(mime: mimeType) else { return nil }
    self.init(type, conformingTo: supertype)
  }

  public init(importedAs identifier: String, conformingTo parent: UTType? = nil) {
    self.identifier = identifier
  }

  public init(exportedAs identifier: String, conformingTo parent: UTType? = nil) {
    self.identifier = identifier
  }

  private init?(_ type: FileType, conformingTo supertype: UTType) {
    identifier = type.identifier
    guard conforms(to: supertype) else { return nil }
  }

  private init(known identifier: String) {
    self.identifier = identifier
  }

  public var preferredFilenameExtension: String? { FileType(identifier: identifier)?.extensions.first }
  public var preferredMIMEType: String? { FileType(identifier: identifier)?.mimes.first }

  /// Whether this type is `type`, or one of its kinds.
  public func conforms(to type: UTType) -> Bool {
    self == type || (FileType(identifier: identifier)?.parents ?? []).contains { UTType(known: $0).conforms(to: type) }
  }

  public static let item = UTType(known: "public.data")
  public static let data = UTType(known: "public.data")
  public static let content = UTType(known: "public.data")
  public static let image = UTType(known: "public.image")
  public static let jpeg = UTType(known: "public.jpeg")
  public static let png = UTType(known: "public.png")
  public static let gif = UTType(known: "com.compuserve.gif")
  public static let webP = UTType(known: "org.webmproject.webp")
  public static let heic = UTType(known: "public.heic")
  public static let heif = UTType(known: "public.heif")
  public static let tiff = UTType(known: "public.tiff")
  public static let bmp = UTType(known: "com.microsoft.bmp")
  public static let ico = UTType(known: "com.microsoft.ico")
  public static let svg = UTType(known: "public.svg-image")
  public static let audio = UTType(known: "public.audio")
  public static let mp3 = UTType(known: "public.mp3")
  public static let wav = UTType(known: "com.microsoft.waveform-audio")
  public static let aiff = UTType(known: "public.aiff-audio")
  public static let mpeg4Audio = UTType(known: "public.mpeg-4-audio")
  public static let movie = UTType(known: "public.movie")
  public static let video = UTType(known: "public.movie")
  public static let mpeg = UTType(known: "public.mpeg")
  public static let mpeg2Video = UTType(known: "public.mpeg-2-video")
  public static let mpeg4Movie = UTType(known: "public.mpeg-4")
  public static let quickTimeMovie = UTType(known: "com.apple.quicktime-movie")
  public static let avi = UTType(known: "public.avi")
  public static let pdf = UTType(known: "com.adobe.pdf")
  public static let text = UTType(known: "public.text")
  public static let plainText = UTType(known: "public.plain-text")
  public static let html = UTType(known: "public.html")
  public static let json = UTType(known: "public.json")
  public static let xml = UTType(known: "public.xml")
  public static let zip = UTType(known: "public.zip-archive")
}

extension UTType: CustomStringConvertible {
  public var description: String { identifier }
}
