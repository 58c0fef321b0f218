import CoreGraphics
import Groundwork

public let kCGImageDestinationLossyCompressionQuality: CFString = "kCGImageDestinationLossyCompressionQuality" as NSString

/// A file that is to have a picture.
public final class CGImageDestination: @unchecked Sendable {
  /// The formats that are written, as libvips names them.
  private static let formats = ["public.jpeg": ".jpg", "public.png": ".png", "public.tiff": ".tif", "com.compuserve.gif": ".gif"]

  private enum Target {
    case data(NSMutableData)
    case file(URL)
  }

  private let target: Target
  private let format: String
  private var picture: (image: CGImage, properties: CFDictionary?)?

  /// - Returns: nil for a type that is not written.
  private init?(_ target: Target, _ type: CFString) {
    guard let format = Self.formats[type as String] else { return nil }
    (self.target, self.format) = (target, format)
  }

  fileprivate convenience init?(_ data: NSMutableData, _ type: CFString) {
    self.init(.data(data), type)
  }

  fileprivate convenience init?(_ url: URL, _ type: CFString) {
    self.init(.file(url), type)
  }

  fileprivate func add(_ image: CGImage, _ properties: CFDictionary?) {
    // A destination for one picture keeps the first one.
    if picture == nil { picture = (image, properties) }
  }

  fileprivate func finalize() -> Bool {
    guard let picture, let pixels = picture.image.pixels else { return false }
    func number(_ key: CFString) -> NSNumber? { picture.properties?.object(forKey: key) as? NSNumber }
    let suffix = format == ".jpg" ? Picture.jpeg(number(kCGImageDestinationLossyCompressionQuality)?.doubleValue ?? 0.8) : format
    let orientation = number(kCGImagePropertyOrientation)?.intValue ?? 1
    guard let data = pixels.encoded(suffix, orientation: (1...8).contains(orientation) ? orientation : 1) else { return false }
    switch target {
    case .data(let whole): whole.append(data)
    case .file(let url):
      guard (try? data.write(to: url)) != nil else { return false }
    }
    return true
  }
}

/// - Parameters:
///   - type: the uniform type identifier of JPEG, PNG, TIFF or GIF.
///   - count: 1: a file has one picture here.
/// - Returns: nil for another type, or more pictures.
public func CGImageDestinationCreateWithData(
  _ data: CFMutableData, _ type: CFString, _ count: Int, _ options: CFDictionary?
) -> CGImageDestination? {
  count == 1 ? CGImageDestination(data, type) : nil
}

/// - Parameters:
///   - type: the uniform type identifier of JPEG, PNG, TIFF or GIF.
///   - count: 1: a file has one picture here.
/// - Returns: nil for another type, or more pictures.
public func CGImageDestinationCreateWithURL(_ url: CFURL, _ type: CFString, _ count: Int, _ options: CFDictionary?) -> CGImageDestination? {
  count == 1 ? CGImageDestination(url as URL, type) : nil
}

public func CGImageDestinationAddImage(_ destination: CGImageDestination, _ image: CGImage, _ properties: CFDictionary?) {
  destination.add(image, properties)
}

/// Adds a picture of a source, with its orientation unless the properties have one.
public func CGImageDestinationAddImageFromSource(
  _ destination: CGImageDestination, _ source: CGImageSource, _ index: Int, _ properties: CFDictionary?
) {
  guard let image = CGImageSourceCreateImageAtIndex(source, index, nil) else { return }
  let own = CGImageSourceCopyPropertiesAtIndex(source, index, nil) as? [AnyHashable: Any] ?? [:]
  let given = properties as? [AnyHashable: Any] ?? [:]
  destination.add(image, own.merging(given) { $1 } as NSDictionary)
}

/// Writes the file.
///
/// - Returns: false if the picture cannot be encoded or written, or libvips is not installed.
public func CGImageDestinationFinalize(_ destination: CGImageDestination) -> Bool {
  destination.finalize()
}
