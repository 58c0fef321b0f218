/// A stored and checked file of a known type, with its identifier and options.
public struct Attachment: Hashable, Sendable {
  /// The payload's identifier. If it gives none, the first 16 hexadecimal digits of the SHA-256 of
  /// the source URL.
  public var identifier: UntrustedText
  /// The file in the store.
  public var file: StoredFile
  /// The URL in the payload.
  public var source: UntrustedText
  /// The display options of the attachment.
  public var options: AttachmentOptions

  /// Makes an attachment from its parts.
  public init(identifier: UntrustedText, file: StoredFile, source: UntrustedText, options: AttachmentOptions) {
    self.identifier = identifier
    self.file = file
    self.source = source
    self.options = options
  }
}

/// A complete file in the store, named after its content.
public struct StoredFile: Hashable, Sendable {
  let name: StoreName
  /// The size in bytes.
  public var size: Int
  /// How the file was made of the one that was downloaded; nil if it was downloaded like this.
  public internal(set) var conversion: PictureConversion?
  /// Whether its origin does not want it to be published: the response has `private` or `no-store`,
  /// or a URL on the way looks signed.
  package internal(set) var isPrivate = false

  init(_ name: StoreName, size: Int, conversion: PictureConversion? = nil) {
    (self.name, self.size, self.conversion) = (name, size, conversion)
  }

  /// Makes a file from its hash, type and size.
  ///
  /// - Parameters:
  ///   - sha256: 64 lower-case hexadecimal digits.
  ///   - type: the type, as the bytes show it.
  ///   - size: the size in bytes.
  /// - Returns: nil when `sha256` does not have this form.
  public init?(sha256: String, type: MediaType, size: Int) {
    guard let name = StoreName(hexadecimal: sha256.utf8, type: type) else { return nil }
    self.init(name, size: size)
  }

  /// The SHA-256 of the content, as 64 lower-case hexadecimal digits.
  public var sha256: String { name.sha256 }
  /// The type, as the bytes show it.
  public var type: MediaType { name.type }
  /// The path in the store: two digits of the hash, a slash, the hash, and the type's extension.
  public var relativePath: String { name.path }
}
