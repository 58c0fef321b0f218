import Foundation

/// A type of file: its uniform type identifier, file name extensions, MIME types, and the
/// identifiers that it conforms to.
///
/// Source: https://developer.apple.com/documentation/uniformtypeidentifiers/system-declared-uniform-type-identifiers
package struct FileType: Sendable {
  package let identifier: String
  package let extensions: [String]
  package let mimes: [String]
  package let parents: [String]

  /// The largest attachment of this type, in bytes; nil for a type that cannot be attached.
  ///
  /// Source: https://developer.apple.com/documentation/usernotifications/unnotificationattachment
  package let attachmentLimit: Int?

  private init(_ identifier: String, _ extensions: [String], _ mimes: [String], _ parents: [String], _ limit: Int? = nil) {
    (self.identifier, self.extensions, self.mimes, self.parents) = (identifier, extensions, mimes, parents)
    attachmentLimit = limit
  }

  private static let (image, audio, movie) = (10_000_000, 5_000_000, 50_000_000)

  /// All types that are known here.
  package static let all: [FileType] = [
    FileType("public.jpeg", ["jpeg", "jpg", "jpe"], ["image/jpeg", "image/jpg"], ["public.image"], image),
    FileType("public.png", ["png"], ["image/png"], ["public.image"], image),
    FileType("com.compuserve.gif", ["gif"], ["image/gif"], ["public.image"], image),
    FileType("public.mp3", ["mp3", "mpga"], ["audio/mpeg", "audio/mp3", "audio/mpg", "audio/x-mpeg"], ["public.audio"], audio),
    FileType("public.mpeg-4-audio", ["m4a", "mp4a"], ["audio/mp4", "audio/x-m4a", "audio/m4a"], ["public.audio"], audio),
    FileType(
      "com.microsoft.waveform-audio", ["wav", "wave"], ["audio/wav", "audio/x-wav", "audio/vnd.wave", "audio/wave"], ["public.audio"], audio
    ),
    FileType("public.aiff-audio", ["aiff", "aif"], ["audio/aiff", "audio/x-aiff"], ["public.audio"], audio),
    FileType("public.mpeg-4", ["mp4", "mpg4"], ["video/mp4", "video/mp4v"], ["public.movie"], movie),
    FileType("public.mpeg", ["mpg", "mpeg", "m75", "m15"], ["video/mpeg", "video/mpg", "video/x-mpeg"], ["public.movie"], movie),
    FileType("public.mpeg-2-video", ["m2v"], ["video/mpeg2"], ["public.movie"], movie),
    FileType("public.avi", ["avi", "vfw"], ["video/avi", "video/x-msvideo", "video/msvideo"], ["public.movie"], movie),
    FileType("com.apple.quicktime-movie", ["mov", "qt"], ["video/quicktime"], ["public.movie"]),
    FileType("com.apple.m4v-video", ["m4v"], ["video/x-m4v"], ["public.movie"]),
    FileType("org.webmproject.webp", ["webp"], ["image/webp"], ["public.image"]),
    FileType("public.heic", ["heic"], ["image/heic"], ["public.image"]),
    FileType("public.heif", ["heif"], ["image/heif"], ["public.image"]),
    FileType("public.tiff", ["tiff", "tif"], ["image/tiff"], ["public.image"]),
    FileType("com.microsoft.bmp", ["bmp", "dib"], ["image/bmp", "image/x-ms-bmp"], ["public.image"]),
    FileType("com.microsoft.ico", ["ico"], ["image/vnd.microsoft.icon", "image/x-icon"], ["public.image"]),
    FileType("public.svg-image", ["svg", "svgz"], ["image/svg+xml"], ["public.image"]),
    FileType("com.adobe.pdf", ["pdf"], ["application/pdf"], ["public.data"]),
    FileType("public.html", ["html", "htm", "shtml"], ["text/html"], ["public.text"]),
    FileType("public.plain-text", ["txt", "text"], ["text/plain"], ["public.text"]),
    FileType("public.json", ["json"], ["application/json"], ["public.text"]),
    FileType("public.xml", ["xml"], ["application/xml", "text/xml"], ["public.text"]),
    FileType("public.zip-archive", ["zip"], ["application/zip"], ["public.data"]),
    FileType("com.apple.coreaudio-format", ["caf"], ["audio/x-caf"], ["public.audio"]),
    FileType("public.image", [], [], ["public.data"]),
    FileType("public.audio", [], [], ["public.data"]),
    FileType("public.movie", [], [], ["public.data"]),
    FileType("public.text", [], [], ["public.data"]),
    FileType("public.data", [], ["application/octet-stream"], []),
  ]

  private static let byIdentifier = Dictionary(uniqueKeysWithValues: all.map { ($0.identifier, $0) })
  private static let byExtension = index(\.extensions)
  private static let byMIME = index(\.mimes)

  private static func index(_ keys: KeyPath<FileType, [String]>) -> [String: FileType] {
    Dictionary(all.flatMap { type in type[keyPath: keys].map { ($0, type) } }) { first, _ in first }
  }

  package init?(identifier: String) {
    guard let type = Self.byIdentifier[identifier.lowercased()] else { return nil }
    self = type
  }

  package init?(fileExtension: String) {
    guard let type = Self.byExtension[fileExtension.lowercased()] else { return nil }
    self = type
  }

  /// - Parameter mime: a MIME type. Its parameters are ignored.
  package init?(mime: String) {
    let name = mime.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
    guard let type = Self.byMIME[name] else { return nil }
    self = type
  }
}
