import Groundwork

public let UNNotificationAttachmentOptionsTypeHintKey = "UNNotificationAttachmentOptionsTypeHintKey"
public let UNNotificationAttachmentOptionsThumbnailHiddenKey = "UNNotificationAttachmentOptionsThumbnailHiddenKey"
public let UNNotificationAttachmentOptionsThumbnailClippingRectKey = "UNNotificationAttachmentOptionsThumbnailClippingRectKey"
public let UNNotificationAttachmentOptionsThumbnailTimeKey = "UNNotificationAttachmentOptionsThumbnailTimeKey"

/// A file that is shown with a notification.
open class UNNotificationAttachment: NSObject, NSCopying, @unchecked Sendable {
  public let identifier: String
  public let url: URL
  /// The uniform type identifier.
  public let type: String
  /// The options, as frames contain them.
  package let options: [String: Any]
  package let size: Int

  /// Creates an attachment of a file, which must exist.
  ///
  /// - Parameter identifier: an empty one is replaced by a unique one.
  /// - Throws: ``UNError`` if the file is not local, is missing, is of a type that cannot be
  ///   attached, or is too large. The type comes from the hint, else from the file name.
  public init(identifier: String, url: URL, options: [AnyHashable: Any]? = nil) throws {
    do {
      let (type, size) = try Self.check(url, options)
      self.identifier = identifier.isEmpty ? UUID().uuidString : identifier
      (self.url, self.type, self.size) = (url, type, size)
      self.options = ThumbnailOptions.frame(of: options ?? [:])
      super.init()
    } catch let error as UNError {
      HostLink.send(
        .refusedAttachment,
        ["path": url.isFileURL ? url.path : url.absoluteString, "code": error.errorCode, "message": error.localizedDescription])
      throw error
    }
  }

  private static func check(_ url: URL, _ options: [AnyHashable: Any]?) throws -> (type: String, size: Int) {
    var isFolder: ObjCBool = false
    guard url.isFileURL, FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder), !isFolder.boolValue,
      FileManager.default.isReadableFile(atPath: url.path),
      let size = (try? FileManager.default.attributesOfItem(atPath: url.path))?[.size] as? NSNumber
    else { throw UNError(.attachmentInvalidURL, "Invalid attachment file URL") }
    guard let type = hintedType(options) ?? FileType(fileExtension: url.pathExtension), let limit = type.attachmentLimit else {
      throw UNError(.attachmentUnrecognizedType, "Unrecognized attachment file type")
    }
    guard size.intValue <= limit else {
      throw UNError(.attachmentInvalidFileSize, "Invalid attachment file size: \(size) bytes, and at most \(limit) for \(type.identifier)")
    }
    return (type.identifier, size.intValue)
  }

  private static func hintedType(_ options: [AnyHashable: Any]?) -> FileType? {
    guard let hint = options?[UNNotificationAttachmentOptionsTypeHintKey] else { return nil }
    if let name = hint as? String, let type = FileType(identifier: name) { return type }
    HostLink.note(.hint, "the type hint \(hint) is not a uniform type identifier such as public.jpeg")
    return nil
  }

  open func copy(with zone: NSZone? = nil) -> Any {
    self
  }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? UNNotificationAttachment else { return false }
    return identifier == other.identifier && url == other.url && type == other.type
  }

  open override var hash: Int { identifier.hashValue }
}

/// The options of an attachment's thumbnail, in the forms that Apple's framework accepts.
private enum ThumbnailOptions {
  static func frame(of options: [AnyHashable: Any]) -> [String: Any] {
    var frame: [String: Any] = [:]
    if let hidden = options[UNNotificationAttachmentOptionsThumbnailHiddenKey] as? NSNumber { frame["thumbnailHidden"] = hidden.boolValue }
    if let rect = options[UNNotificationAttachmentOptionsThumbnailClippingRectKey].flatMap(rect) { frame["thumbnailClippingRect"] = rect }
    if let time = options[UNNotificationAttachmentOptionsThumbnailTimeKey].flatMap(seconds) { frame["thumbnailTime"] = time }
    return frame
  }

  /// Reads a dictionary of a rectangle, or the rectangle itself, which people pass too.
  private static func rect(_ value: Any) -> [String: Double]? {
    let parts: [Double]
    if let rect = value as? CGRect {
      parts = [rect.origin.x, rect.origin.y, rect.size.width, rect.size.height].map { Double($0) }
    } else if let dictionary = value as? [String: Any] {
      parts = ["X", "Y", "Width", "Height"].compactMap { (dictionary[$0] as? NSNumber)?.doubleValue }
    } else {
      return nil
    }
    guard parts.count == 4, parts.allSatisfy({ (0...1).contains($0) }) else { return nil }
    return ["x": parts[0], "y": parts[1], "width": parts[2], "height": parts[3]]
  }

  /// Reads seconds, or the dictionary of a CMTime.
  private static func seconds(_ value: Any) -> Double? {
    if let number = value as? NSNumber { return finite(number.doubleValue) }
    guard let time = value as? [String: Any], let count = time["value"] as? NSNumber, let scale = time["timescale"] as? NSNumber,
      scale.doubleValue > 0
    else { return nil }
    return finite(count.doubleValue / scale.doubleValue)
  }

  private static func finite(_ seconds: Double) -> Double? {
    seconds.isFinite && seconds >= 0 ? seconds : nil
  }
}
