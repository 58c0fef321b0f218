import CoreGraphics
import Groundwork

/// The contexts of this thread. The last one is drawn to.
private enum CurrentContexts {
  final class Entry {
    let context: CGContext
    let scale: CGFloat

    init(_ context: CGContext, scale: CGFloat) {
      (self.context, self.scale) = (context, scale)
    }
  }

  private static let key = "attache.contexts"

  static var entries: [Entry] {
    get { Thread.current.threadDictionary[key] as? [Entry] ?? [] }
    set { Thread.current.threadDictionary[key] = newValue }
  }
}

public func UIGraphicsGetCurrentContext() -> CGContext? {
  CurrentContexts.entries.last?.context
}

/// Begins a context in which the picture of ``UIGraphicsGetImageFromCurrentImageContext()`` is drawn.
///
/// - Parameter scale: the pixels of a point; 0 for those of the screen.
public func UIGraphicsBeginImageContextWithOptions(_ size: CGSize, _ opaque: Bool, _ scale: CGFloat) {
  let scale = scale == 0 ? UIScreen.main.scale : scale
  guard let context = Drawing.context(CGRect(origin: .zero, size: size), scale, isOpaque: opaque) else { return }
  CurrentContexts.entries.append(.init(context, scale: scale))
}

public func UIGraphicsBeginImageContext(_ size: CGSize) {
  UIGraphicsBeginImageContextWithOptions(size, false, 1)
}

public func UIGraphicsGetImageFromCurrentImageContext() -> UIImage? {
  guard let entry = CurrentContexts.entries.last, let image = entry.context.makeImage() else { return nil }
  return UIImage(cgImage: image, scale: entry.scale, orientation: .up)
}

public func UIGraphicsEndImageContext() {
  _ = CurrentContexts.entries.popLast()
}

public func UIRectFill(_ rect: CGRect) {
  UIGraphicsGetCurrentContext()?.fill(rect)
}

public func UIRectClip(_ rect: CGRect) {
  UIGraphicsGetCurrentContext()?.clip(to: rect)
}

private enum Drawing {
  /// Returns a context; nil if it has no pixels, or too many.
  ///
  /// - Parameter isOpaque: whether it is black, and not transparent, before something is drawn.
  static func context(_ bounds: CGRect, _ scale: CGFloat, isOpaque: Bool) -> CGContext? {
    guard let context = CGContext(bounds: bounds, scale: scale) else { return nil }
    if isOpaque { context.fill(bounds.insetBy(dx: -1, dy: -1)) }
    return context
  }

  /// Draws in a context.
  static func draw(_ context: CGContext, _ scale: CGFloat, _ body: () -> Void) {
    CurrentContexts.entries.append(.init(context, scale: scale))
    defer { _ = CurrentContexts.entries.popLast() }
    body()
  }
}

open class UIGraphicsImageRendererFormat: NSObject, @unchecked Sendable {
  /// The pixels of a point.
  open var scale: CGFloat = UIScreen.main.scale
  /// Whether the picture has no transparent pixels.
  open var opaque = false
  /// What the renderer draws, in points.
  public fileprivate(set) var bounds = CGRect.zero

  public override init() {
    super.init()
  }

  open class func `default`() -> UIGraphicsImageRendererFormat { UIGraphicsImageRendererFormat() }
  open class func preferred() -> UIGraphicsImageRendererFormat { UIGraphicsImageRendererFormat() }
}

open class UIGraphicsImageRendererContext: NSObject {
  public let cgContext: CGContext
  public let format: UIGraphicsImageRendererFormat

  fileprivate init(_ context: CGContext, _ format: UIGraphicsImageRendererFormat) {
    (cgContext, self.format) = (context, format)
    super.init()
  }

  /// The picture as it is now.
  open var currentImage: UIImage {
    guard let image = cgContext.makeImage() else { preconditionFailure("no memory for a picture") }
    return UIImage(cgImage: image, scale: format.scale, orientation: .up)
  }

  open func fill(_ rect: CGRect) { cgContext.fill(rect) }
  open func stroke(_ rect: CGRect) { cgContext.stroke(rect) }
  open func clip(to rect: CGRect) { cgContext.clip(to: rect) }
}

/// Draws pictures.
open class UIGraphicsImageRenderer: NSObject, @unchecked Sendable {
  public let format: UIGraphicsImageRendererFormat
  private let bounds: CGRect

  public init(bounds: CGRect, format: UIGraphicsImageRendererFormat) {
    (self.bounds, self.format) = (bounds, format)
    format.bounds = bounds
    super.init()
  }

  public convenience init(bounds: CGRect) {
    self.init(bounds: bounds, format: .default())
  }

  public convenience init(size: CGSize, format: UIGraphicsImageRendererFormat) {
    self.init(bounds: CGRect(origin: .zero, size: size), format: format)
  }

  public convenience init(size: CGSize) {
    self.init(size: size, format: .default())
  }

  /// Returns what `actions` draw. A size without pixels, or with too many, ends the process, as on iOS.
  open func image(actions: (UIGraphicsImageRendererContext) -> Void) -> UIImage {
    guard let context = Drawing.context(bounds, format.scale, isOpaque: format.opaque) else {
      preconditionFailure("a picture of \(bounds.size) points at a scale of \(format.scale) cannot be drawn")
    }
    let own = UIGraphicsImageRendererContext(context, format)
    Drawing.draw(context, format.scale) { actions(own) }
    return own.currentImage
  }

  /// Returns what `actions` draw, as PNG; empty if libvips is not installed.
  open func pngData(actions: (UIGraphicsImageRendererContext) -> Void) -> Data {
    image(actions: actions).pngData() ?? Data()
  }

  /// Returns what `actions` draw, as JPEG; empty if libvips is not installed.
  open func jpegData(withCompressionQuality compressionQuality: CGFloat, actions: (UIGraphicsImageRendererContext) -> Void) -> Data {
    image(actions: actions).jpegData(compressionQuality: compressionQuality) ?? Data()
  }
}
