// Reads, draws and writes pictures with ImageIO, Core Graphics and UIKit.
import ImageIO
import UIKit
import UserNotifications

class NotificationService: UNNotificationServiceExtension {
  override func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    let content = request.content.mutableCopy() as! UNMutableNotificationContent
    let folder = URL(fileURLWithPath: request.content.userInfo["folder"] as? String ?? "")
    content.body = (read(folder) + thumbnails(folder) + write(folder) + draw()).joined(separator: "\n")
    contentHandler(content)
  }

  private func read(_ folder: URL) -> [String] {
    ["animation.gif", "photo-turned.jpg", "picture-alpha.png", "photo.avif", "drawing.svg", "error.json"].map { name in
      guard let source = CGImageSourceCreateWithURL(folder.appendingPathComponent(name) as CFURL, nil) else { return "\(name) no source" }
      let properties = CGImageSourceCopyPropertiesAtIndex(source, 0, nil) as? [CFString: Any]
      let last = CGImageSourceCreateImageAtIndex(source, CGImageSourceGetCount(source) - 1, nil)
      let image = (try? Data(contentsOf: folder.appendingPathComponent(name))).flatMap { UIImage(data: $0) }
      return [
        name, "\(CGImageSourceGetCount(source))", CGImageSourceGetType(source).map { $0 as String } ?? "no type",
        properties?[kCGImagePropertyPixelWidth].map { "\($0)" } ?? "-", properties?[kCGImagePropertyOrientation].map { "\($0)" } ?? "-",
        last.map { "\($0.width)x\($0.height)" } ?? "-", image.map { "\(Int($0.size.width))x\(Int($0.size.height))" } ?? "-",
      ].joined(separator: " ")
    } + [CGImageSourceCreateWithURL(folder.appendingPathComponent("none") as CFURL, nil) == nil ? "no file" : "a source"]
  }

  private func thumbnails(_ folder: URL) -> [String] {
    guard let source = CGImageSourceCreateWithURL(folder.appendingPathComponent("photo-turned.jpg") as CFURL, nil) else { return [] }
    let options: [[CFString: Any]] = [
      [kCGImageSourceCreateThumbnailFromImageAlways: true, kCGImageSourceThumbnailMaxPixelSize: 48],
      [
        kCGImageSourceCreateThumbnailFromImageAlways: true, kCGImageSourceThumbnailMaxPixelSize: 48,
        kCGImageSourceCreateThumbnailWithTransform: true,
      ],
      [kCGImageSourceCreateThumbnailFromImageIfAbsent: true, kCGImageSourceThumbnailMaxPixelSize: 5_000],
      [kCGImageSourceThumbnailMaxPixelSize: 48],
    ]
    return options.map { options in
      CGImageSourceCreateThumbnailAtIndex(source, 0, options as CFDictionary).map { "\($0.width)x\($0.height)" } ?? "none"
    }
  }

  private func write(_ folder: URL) -> [String] {
    guard let data = try? Data(contentsOf: folder.appendingPathComponent("photo.jpg")), let image = UIImage(data: data)?.cgImage,
      let source = CGImageSourceCreateWithURL(folder.appendingPathComponent("photo-turned.jpg") as CFURL, nil)
    else { return [] }
    let sizes = [0.1, 1.0].map { quality in
      let output = NSMutableData()
      guard let destination = CGImageDestinationCreateWithData(output, UTType.jpeg.identifier as CFString, 1, nil) else { return 0 }
      CGImageDestinationAddImage(destination, image, [kCGImageDestinationLossyCompressionQuality: quality] as CFDictionary)
      return CGImageDestinationFinalize(destination) ? output.length : 0
    }
    let turned = NSMutableData()
    if let destination = CGImageDestinationCreateWithData(turned, "public.jpeg" as CFString, 1, nil) {
      CGImageDestinationAddImageFromSource(destination, source, 0, nil)
      _ = CGImageDestinationFinalize(destination)
    }
    let nowhere = CGImageDestinationCreateWithURL(URL(fileURLWithPath: "/none/picture.png") as CFURL, "public.png" as CFString, 1, nil)
    if let nowhere { CGImageDestinationAddImage(nowhere, image, nil) }
    return [
      "\(0 < sizes[0] && sizes[0] < sizes[1])", UIImage(data: turned as Data).map { "\($0.imageOrientation)" } ?? "none",
      "\(nowhere.map { CGImageDestinationFinalize($0) } ?? true)",
      CGImageDestinationCreateWithData(turned, "com.adobe.pdf" as CFString, 1, nil) == nil ? "not written" : "written",
    ]
  }

  private func draw() -> [String] {
    let format = UIGraphicsImageRendererFormat()
    format.scale = 1
    let flag = UIGraphicsImageRenderer(size: CGSize(width: 2, height: 2), format: format).image { context in
      for (color, x, y) in [(UIColor.red, 0, 0), (.green, 1, 0), (.blue, 0, 1), (.white, 1, 1)] {
        color.setFill()
        context.fill(CGRect(x: x, y: y, width: 1, height: 1))
      }
    }
    let round = UIGraphicsImageRenderer(size: CGSize(width: 40, height: 40), format: format).image { _ in
      UIBezierPath(ovalIn: CGRect(x: 0, y: 0, width: 40, height: 40)).addClip()
      flag.draw(in: CGRect(x: 0, y: 0, width: 40, height: 40))
    }
    let turned = UIImage(cgImage: flag.cgImage!, scale: 1, orientation: .right)
    UIGraphicsBeginImageContextWithOptions(CGSize(width: 20, height: 20), true, 2)
    UIColor(white: 1, alpha: 0.5).setFill()
    UIRectFill(CGRect(x: 0, y: 0, width: 10, height: 20))
    turned.draw(in: CGRect(x: 10, y: 0, width: 10, height: 20))
    let opaque = UIGraphicsGetImageFromCurrentImageContext()!
    UIGraphicsEndImageContext()
    let framed = UIGraphicsImageRenderer(size: CGSize(width: 20, height: 20), format: format).image { context in
      let path = UIBezierPath(roundedRect: CGRect(x: 2, y: 2, width: 16, height: 16), cornerRadius: 6)
      UIColor.yellow.setFill()
      path.fill()
      UIColor.black.setStroke()
      path.lineWidth = 2
      path.stroke()
      context.cgContext.clear(CGRect(x: 8, y: 8, width: 2, height: 2))
    }
    var before: UIImage?
    let after = UIGraphicsImageRenderer(size: CGSize(width: 4, height: 4), format: format).image { context in
      for color in [UIColor.red, .blue] {
        before = context.currentImage
        color.setFill()
        context.fill(context.format.bounds)
      }
    }
    let bitmap = CGContext(
      data: nil, width: 20, height: 20, bitsPerComponent: 8, bytesPerRow: 0, space: CGColorSpaceCreateDeviceRGB(),
      bitmapInfo: CGImageAlphaInfo.premultipliedLast.rawValue)!
    bitmap.interpolationQuality = .high
    bitmap.draw(flag.cgImage!, in: CGRect(x: 0, y: 0, width: 20, height: 20))
    return [
      pixels(round, [(0, 0), (9, 9), (30, 9), (9, 30), (30, 30)]),
      pixels(round.pngData().flatMap { UIImage(data: $0) }, [(0, 0), (9, 9), (30, 30)]),
      "\(Int(opaque.size.width)) \(opaque.cgImage!.width) " + pixels(opaque, [(4, 4), (22, 4), (38, 4), (22, 36)]),
      pixels(framed, [(0, 0), (2, 2), (10, 2), (10, 5), (8, 8)]),
      pixels(UIImage(cgImage: bitmap.makeImage()!), [(2, 2), (17, 2), (2, 17)]),
      pixels(before, [(1, 1)]) + " " + pixels(after, [(1, 1)]),
      "\(UIGraphicsGetCurrentContext() == nil) \(flag.preparingThumbnail(of: CGSize(width: 4, height: 8))!.size.height)",
    ]
  }

  private func pixels(_ image: UIImage?, _ places: [(x: Int, y: Int)]) -> String {
    guard let image = image?.cgImage, let data = image.dataProvider?.data as Data? else { return "no pixels" }
    return places.map { place in
      let start = place.y * image.bytesPerRow + place.x * 4
      return data[start..<start + 4].map { String(format: "%02x", $0) }.joined()
    }.joined(separator: " ")
  }
}
