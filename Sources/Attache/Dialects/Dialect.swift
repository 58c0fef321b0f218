/// One vendor's way of naming media in a payload: a row of the table.
package struct Dialect: Hashable, Sendable {
  /// When a row is asked.
  package enum Precedence: Hashable, Sendable {
    /// The user named the place: it is asked, and what it finds holds nobody else back.
    case user
    /// A vendor's own keys: asked; what it finds holds the rows of last resort back.
    case vendor
    /// Keys that anybody might use: asked only when no vendor's row before it found media.
    case lastResort
  }

  /// What a payload must have for a row to be asked.
  package enum Condition: Hashable, Sendable {
    /// There is an object at this place.
    case object(JSONPointer)
    /// There is exactly this string at this place.
    case text(JSONPointer, equals: String)
  }

  /// The name in the report and in `--dialect`.
  package let name: String
  package let precedence: Precedence
  /// All of them must hold; none means that the places speak for themselves.
  package let recogniser: [Condition]
  /// Where the media stand, in order; every place is looked at.
  package let sources: [MediaSource]

  package init(_ name: String, precedence: Precedence = .vendor, recogniser: [Condition] = [], sources: [MediaSource]) {
    self.name = name
    self.precedence = precedence
    self.recogniser = recogniser
    self.sources = sources
  }
}

/// A place in a payload where a dialect writes media, and where it says more about them.
package struct MediaSource: Hashable, Sendable {
  /// The values that are understood at the place; any other is passed over.
  package enum Form: Hashable, Sendable {
    /// A string that is the URL.
    case text
    /// A string that is the URL, an object that has the URL as its member `url`, or an array of either.
    case any(url: String)
  }

  /// Where a dialect says something about a reference.
  package enum Field: Hashable, Sendable {
    /// In the object that has the URL; never found when the URL stands there as a plain string.
    case inside(JSONPointer)
    /// At a place of the payload, for every URL of the source.
    case at(JSONPointer)
    /// Always this text.
    case fixed(String)
  }

  package let path: JSONPointer
  package let form: Form
  /// Whether only absolute URLs (with `://`) count: a bare word under a common key is the name of an asset.
  package let needsScheme: Bool
  package let identifier: Field?
  package let typeHint: Field?
  package let thumbnailHidden: Field?
  package let thumbnailClippingRect: Field?
  package let thumbnailTime: Field?

  package init(
    _ path: JSONPointer, form: Form, needsScheme: Bool = false, identifier: Field? = nil, typeHint: Field? = nil,
    thumbnailHidden: Field? = nil, thumbnailClippingRect: Field? = nil, thumbnailTime: Field? = nil
  ) {
    self.path = path
    self.form = form
    self.needsScheme = needsScheme
    self.identifier = identifier
    self.typeHint = typeHint
    self.thumbnailHidden = thumbnailHidden
    self.thumbnailClippingRect = thumbnailClippingRect
    self.thumbnailTime = thumbnailTime
  }

  /// A place that anybody writes by hand. Objects say more with the names of attache's own output: `identifier`, `type`, `options`.
  static func handWritten(_ path: JSONPointer, needsScheme: Bool, typeHint: Field? = nil) -> MediaSource {
    MediaSource(
      path, form: .any(url: "url"), needsScheme: needsScheme,
      identifier: .inside(JSONPointer("identifier")),
      typeHint: typeHint ?? .inside(JSONPointer("type")),
      thumbnailHidden: .inside(JSONPointer("options", "thumbnailHidden")),
      thumbnailClippingRect: .inside(JSONPointer("options", "thumbnailClippingRect")),
      thumbnailTime: .inside(JSONPointer("options", "thumbnailTime")))
  }
}
