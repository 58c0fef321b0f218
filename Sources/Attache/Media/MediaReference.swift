/// A URL that a payload names, with what the payload says about it.
public struct MediaReference: Hashable, Sendable {
  /// What the media are for.
  public enum Role: String, CaseIterable, Sendable {
    /// They are attached.
    case attachment
    /// They are the sender's picture in a communication notification, which no attachment is.
    case avatar
  }

  /// How a hint at the type is written.
  public enum HintKind: String, CaseIterable, Sendable {
    case fileExtension = "extension"
    case mime
    case uniformType = "uniform-type"
    /// A word for many types, such as `video`.
    case mediaClass = "class"
  }

  /// What the vendor's own helper has and the payload has not.
  public struct Needs: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) {
      self.rawValue = rawValue
    }

    /// The address that a relative URL counts from.
    public static let baseURL = Needs(rawValue: 1)
    /// A token or a password.
    public static let credentials = Needs(rawValue: 2)
    /// The vendor's helper downloads from https URLs alone.
    public static let https = Needs(rawValue: 4)
    /// The vendor's helper downloads nothing without a hint at the type.
    public static let typeHint = Needs(rawValue: 8)
  }

  /// The URL as the payload writes it, unescaped and unchecked: hostile until the URL gate has
  /// passed it.
  public var url: UntrustedText
  /// Further URLs of the same media, which are tried in order when those before failed.
  public var fallbacks: [UntrustedText] = []
  /// The identifier that the payload or its dialect gives the attachment; the empty one has a
  /// unique one made, as Apple does. Nil if there is none.
  public var identifier: UntrustedText?
  /// The payload's hint at the type, in its own words of 255 bytes at most. It never overrules the
  /// bytes.
  public var typeHint: UntrustedText?
  public var hintKind: HintKind?
  /// Whether the hint is the dialect's own word and not the payload's; false unless places were
  /// asked for.
  package var isHintFixed = false
  /// The uniform type that the hint stands for, where it is a word of the vendor's own.
  public var hintedType: String?
  /// How the attachment is to be shown, as far as the payload says.
  public var options: AttachmentOptions
  public var role = Role.attachment
  /// Whether the payload wants the media loaded when somebody looks, and not by the service
  /// extension.
  public var isLazy = false
  public var needs: Needs = []
  /// Where the URL stands in the payload, as a JSON pointer; nil unless it was asked for.
  public var path: UntrustedText?

  public init(
    url: UntrustedText, identifier: UntrustedText? = nil, typeHint: UntrustedText? = nil, options: AttachmentOptions = AttachmentOptions()
  ) {
    self.url = url
    self.identifier = identifier
    self.typeHint = typeHint
    self.options = options
  }
}

extension MediaReference {
  /// The longest hint at a type, in bytes: a MIME type has two names of 127 bytes (RFC 6838, 4.2).
  /// A longer one is as good as absent.
  static let longestHint = 255
  /// The longest identifier, in bytes: an app may name a file by it, and a path on Apple's systems
  /// has 1,024 bytes (PATH_MAX in sys/syslimits.h).
  static let longestIdentifier = 1_024

  /// Why the reference is not followed, whatever its URL: the payload wants it loaded later, or its
  /// identifier is unsafe.
  ///
  /// An app that names files by identifiers would leave its folder with one that is a path from the
  /// root or climbs. A control character, a line separator or a mark that turns the direction of
  /// writing forges lines of a log and of a terminal.
  var refusal: Reason? {
    if isLazy { return .payloadLazy }
    guard let identifier else { return nil }
    guard identifier.utf8.count <= Self.longestIdentifier else { return .payloadIdentifier }
    let steps = identifier.utf8.split(omittingEmptySubsequences: false) { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
    let leaves = steps.contains { $0.elementsEqual("..".utf8) } || steps.count > 1 && steps[0].isEmpty
    return leaves || identifier.string.unicodeScalars.contains(where: \.forgesText) ? .payloadIdentifier : nil
  }
}

/// How an attachment is shown; what is nil was not asked for.
///
/// Source: https://developer.apple.com/documentation/usernotifications/unnotificationattachment
/// (attachment attributes)
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
