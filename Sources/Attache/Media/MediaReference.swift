/// A URL in a payload, with what the payload says about it.
public struct MediaReference: Hashable, Sendable {
  /// The use of the media.
  public enum Role: String, CaseIterable, Sendable {
    /// They are attached.
    case attachment
    /// They are the sender's picture in a communication notification. They are not attached.
    case avatar
  }

  /// The form of a type hint.
  public enum HintKind: String, CaseIterable, Sendable {
    /// A file name extension.
    case fileExtension = "extension"
    /// A MIME type.
    case mime
    /// A uniform type identifier.
    case uniformType = "uniform-type"
    /// A word for many types, such as `video`.
    case mediaClass = "class"
  }

  /// What the vendor's own helper needs and the payload does not contain.
  public struct Needs: OptionSet, Hashable, Sendable {
    /// The bits of the set.
    public let rawValue: UInt8

    /// Makes a set from its bits.
    public init(rawValue: UInt8) {
      self.rawValue = rawValue
    }

    /// The base of a relative URL.
    public static let baseURL = Needs(rawValue: 1)
    /// A token or a password.
    public static let credentials = Needs(rawValue: 2)
    /// The vendor's helper downloads only from https URLs.
    public static let https = Needs(rawValue: 4)
    /// The vendor's helper downloads nothing without a type hint.
    public static let typeHint = Needs(rawValue: 8)
  }

  /// The URL as written in the payload, unescaped and unchecked. Treat it as hostile until the URL
  /// gate has accepted it.
  public var url: UntrustedText
  /// More URLs of the same media. They are tried in order after the previous ones failed.
  public var fallbacks: [UntrustedText] = []
  /// The identifier that the payload or its dialect gives the attachment; nil if there is none. An
  /// empty one is replaced by a unique one, as Apple does.
  public var identifier: UntrustedText?
  /// The payload's type hint, in its own words, at most 255 bytes. It never overrides the type that
  /// the bytes show.
  public var typeHint: UntrustedText?
  /// The form of the hint; nil if it is not known.
  public var hintKind: HintKind?
  /// Whether the hint comes from the dialect, not from the payload. Always false unless paths were
  /// requested.
  package var isHintFixed = false
  /// The uniform type that the hint means, if the hint is a word of the vendor's own.
  public var hintedType: String?
  /// The display options that the payload gives.
  public var options: AttachmentOptions
  /// The use of the media.
  public var role = Role.attachment
  /// Whether the payload asks to load the media when it is viewed, not in the service extension.
  public var isLazy = false
  /// Whether only devices that are not Apple's show the media. Its URL is replaced, but the member
  /// does not name it.
  package var isForOthers = false
  /// Why the URL cannot be read: the payload has a value of another type than the vendor's helper
  /// reads. Nil for all others.
  package var misfit: MediaMisfit?
  /// What the vendor's own helper needs and the payload does not contain.
  public var needs: Needs = []
  /// The location of the URL in the payload, as a JSON pointer; nil unless paths were requested.
  public var path: UntrustedText?

  /// Makes a reference; the other properties have their defaults.
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
  /// The longest type hint, in bytes: a MIME type has two names of 127 bytes (RFC 6838, 4.2). A
  /// longer hint is ignored.
  package static let longestHint = 255
  /// The longest identifier, in bytes. An app may use it as a file name, and a path on Apple's
  /// systems has at most 1,024 bytes (PATH_MAX in sys/syslimits.h).
  package static let longestIdentifier = 1_024

  /// The reason to refuse the reference, whatever its URL: a value has the wrong type, the payload
  /// asks to load it later, or its identifier is unsafe.
  ///
  /// If an app names files by identifiers, an absolute path or a `..` component leads out of its
  /// folder. A control character, a line separator, or a mark that changes the direction of writing
  /// can forge lines in a log or on a terminal.
  package var refusal: Reason? {
    if misfit != nil { return .payloadForm }
    if isLazy { return .payloadLazy }
    guard let identifier else { return nil }
    guard identifier.utf8.count <= Self.longestIdentifier else { return .payloadIdentifier }
    let steps = identifier.utf8.split(omittingEmptySubsequences: false) { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
    let leaves = steps.contains { $0.elementsEqual("..".utf8) } || steps.count > 1 && steps[0].isEmpty
    return leaves || identifier.string.unicodeScalars.contains(where: \.forgesText) ? .payloadIdentifier : nil
  }
}

/// The display options of an attachment; nil for an option that was not given.
///
/// Source: https://developer.apple.com/documentation/usernotifications/unnotificationattachment
/// (attachment attributes)
public struct AttachmentOptions: Hashable, Sendable {
  /// Whether the thumbnail is hidden.
  public var thumbnailHidden: Bool?
  /// The part of the picture that becomes the thumbnail, in unit coordinates.
  public var thumbnailClippingRect: ClippingRect?
  /// The time in a video whose frame becomes the thumbnail, in seconds.
  public var thumbnailTime: Double?

  /// Makes options; without arguments, none is given.
  public init(thumbnailHidden: Bool? = nil, thumbnailClippingRect: ClippingRect? = nil, thumbnailTime: Double? = nil) {
    self.thumbnailHidden = thumbnailHidden
    self.thumbnailClippingRect = thumbnailClippingRect
    self.thumbnailTime = thumbnailTime
  }

  /// Whether no option is given.
  public var isEmpty: Bool {
    self == AttachmentOptions()
  }
}

/// A rectangle in unit coordinates: every value is in 0…1.
public struct ClippingRect: Hashable, Sendable {
  /// The origin and the size, in unit coordinates.
  public var x, y, width, height: Double

  /// Makes a rectangle. The values are not checked.
  public init(x: Double, y: Double, width: Double, height: Double) {
    self.x = x
    self.y = y
    self.width = width
    self.height = height
  }
}
