import CExtensionRuntime
@_exported import CoreGraphics
import Groundwork

public let kCGImageSourceShouldCache: CFString = "kCGImageSourceShouldCache" as NSString
public let kCGImageSourceShouldCacheImmediately: CFString = "kCGImageSourceShouldCacheImmediately" as NSString
public let kCGImageSourceCreateThumbnailFromImageIfAbsent: CFString = "kCGImageSourceCreateThumbnailFromImageIfAbsent" as NSString
public let kCGImageSourceCreateThumbnailFromImageAlways: CFString = "kCGImageSourceCreateThumbnailFromImageAlways" as NSString
public let kCGImageSourceCreateThumbnailWithTransform: CFString = "kCGImageSourceCreateThumbnailWithTransform" as NSString
public let kCGImageSourceThumbnailMaxPixelSize: CFString = "kCGImageSourceThumbnailMaxPixelSize" as NSString
public let kCGImageSourceTypeIdentifierHint: CFString = "kCGImageSourceTypeIdentifierHint" as NSString

public let kCGImagePropertyPixelWidth: CFString = "PixelWidth" as NSString
public let kCGImagePropertyPixelHeight: CFString = "PixelHeight" as NSString
public let kCGImagePropertyOrientation: CFString = "Orientation" as NSString
public let kCGImagePropertyHasAlpha: CFString = "HasAlpha" as NSString
public let kCGImagePropertyDepth: CFString = "Depth" as NSString

/// A file that has pictures.
public final class CGImageSource: @unchecked Sendable {
  fileprivate let data: Data
  /// What the header says of the first picture; nil if there is none.
  fileprivate let first: runtime_header?

  fileprivate init(_ data: Data) {
    (self.data, first) = (data, Picture.header(data))
  }

  fileprivate func contains(_ index: Int) -> Bool {
    index >= 0 && index < CGImageSourceGetCount(self)
  }
}

public enum CGImageSourceStatus: Int32, Sendable {
  case statusUnexpectedEOF = -5
  case statusInvalidData = -4
  case statusUnknownType = -3
  case statusReadingHeader = -2
  case statusIncomplete = -1
  case statusComplete = 0
}

/// Creates a source. Bytes that are no picture give one without pictures.
public func CGImageSourceCreateWithData(_ data: CFData, _ options: CFDictionary?) -> CGImageSource? {
  CGImageSource(data as Data)
}

/// Creates a source. Bytes that are no picture give one without pictures.
public func CGImageSourceCreateWithDataProvider(_ provider: CGDataProvider, _ options: CFDictionary?) -> CGImageSource? {
  provider.data.map { CGImageSource($0 as Data) }
}

/// - Returns: nil if the file cannot be read.
public func CGImageSourceCreateWithURL(_ url: CFURL, _ options: CFDictionary?) -> CGImageSource? {
  (try? Data(contentsOf: url as URL)).map { CGImageSource($0) }
}

public func CGImageSourceGetCount(_ source: CGImageSource) -> Int {
  source.first.map { max(1, Int($0.pages)) } ?? 0
}

public func CGImageSourceGetStatus(_ source: CGImageSource) -> CGImageSourceStatus {
  source.first == nil ? .statusUnknownType : .statusComplete
}

/// Returns the uniform type identifier of the file.
public func CGImageSourceGetType(_ source: CGImageSource) -> CFString? {
  source.first?.type.map { String(cString: $0) as NSString }
}

/// Returns the width, height and orientation of a picture, and whether it has alpha.
public func CGImageSourceCopyPropertiesAtIndex(_ source: CGImageSource, _ index: Int, _ options: CFDictionary?) -> CFDictionary? {
  guard source.contains(index), let header = Picture.header(source.data, page: index) else { return nil }
  let properties: [CFString: Any] = [
    kCGImagePropertyPixelWidth: Int(header.width), kCGImagePropertyPixelHeight: Int(header.height), kCGImagePropertyDepth: 8,
    kCGImagePropertyOrientation: Int(header.orientation), kCGImagePropertyHasAlpha: header.has_alpha,
  ]
  return properties as NSDictionary
}

public func CGImageSourceCreateImageAtIndex(_ source: CGImageSource, _ index: Int, _ options: CFDictionary?) -> CGImage? {
  source.contains(index) ? CGImage(data: source.data, page: index) : nil
}

/// Creates a small picture.
///
/// - Parameter options: without `kCGImageSourceCreateThumbnailFromImageAlways` or `…IfAbsent` there is none: a thumbnail
///   within the file is not read.
public func CGImageSourceCreateThumbnailAtIndex(_ source: CGImageSource, _ index: Int, _ options: CFDictionary?) -> CGImage? {
  func option(_ key: CFString) -> NSNumber? { options?.object(forKey: key) as? NSNumber }
  let isWanted = [kCGImageSourceCreateThumbnailFromImageAlways, kCGImageSourceCreateThumbnailFromImageIfAbsent]
    .contains { option($0)?.boolValue == true }
  let side = option(kCGImageSourceThumbnailMaxPixelSize)?.doubleValue ?? 65_500
  guard source.contains(index), isWanted, side >= 1 else { return nil }
  let rotates = option(kCGImageSourceCreateThumbnailWithTransform)?.boolValue ?? false
  return Pixels.decoding(source.data, page: index) { runtime_thumbnail($0, Int32(min(side, 65_500)), rotates, $1, $2) }
    .map { CGImage($0) }
}
