/// A URL that a payload names, with what the payload says about it.
public struct MediaReference: Hashable, Sendable {
  /// The URL as the payload writes it, unescaped and unchecked: hostile until the URL gate has passed it.
  public var url: String
  /// The identifier that the payload gives the attachment, if any.
  public var identifier: String?
  /// The payload's hint at the type (an extension, a MIME type or a uniform type identifier). It never overrules the bytes.
  public var typeHint: String?
  /// How the attachment is to be shown, as far as the payload says.
  public var options: AttachmentOptions

  public init(url: String, identifier: String? = nil, typeHint: String? = nil, options: AttachmentOptions = AttachmentOptions()) {
    self.url = url
    self.identifier = identifier
    self.typeHint = typeHint
    self.options = options
  }
}

extension MediaReference {
  /// Why the reference is not followed, whatever its URL: whoever names files by identifiers would leave the folder with one that is a path from
  /// the root or climbs, and a control character forges lines of a log.
  var refusal: Reason? {
    guard let identifier else { return nil }
    let steps = identifier.utf8.split(omittingEmptySubsequences: false) { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
    let leaves = steps.contains { $0.elementsEqual("..".utf8) } || steps.count > 1 && steps[0].isEmpty
    return leaves || identifier.utf8.contains(where: \.isControlASCII) ? .payloadIdentifier : nil
  }
}

/// How an attachment is shown; what is nil was not asked for.
///
/// Source: https://developer.apple.com/documentation/usernotifications/unnotificationattachment (attachment attributes)
public struct AttachmentOptions: Hashable, Sendable {
  /// Whether the thumbnail is hidden.
  public var thumbnailHidden: Bool?
  /// The part of the picture that becomes the thumbnail, in unit coordinates.
  public var thumbnailClippingRect: ClippingRect?
  /// The moment of a video whose frame becomes the thumbnail, in seconds.
  public var thumbnailTime: Double?

  public init(thumbnailHidden: Bool? = nil, thumbnailClippingRect: ClippingRect? = nil, thumbnailTime: Double? = nil) {
    self.thumbnailHidden = thumbnailHidden
    self.thumbnailClippingRect = thumbnailClippingRect
    self.thumbnailTime = thumbnailTime
  }

  /// Whether the payload asked for nothing at all.
  public var isEmpty: Bool {
    self == AttachmentOptions()
  }
}

/// A rectangle in unit coordinates: every value lies in 0…1.
public struct ClippingRect: Hashable, Sendable {
  public var x, y, width, height: Double

  public init(x: Double, y: Double, width: Double, height: Double) {
    self.x = x
    self.y = y
    self.width = width
    self.height = height
  }
}
