/// A stored, typed, checked file with its identifier and options.
public struct Attachment: Hashable, Sendable {
  /// The payload's identifier, or the first 16 hexadecimal digits of the source URL's SHA-256 when
  /// it gives none.
  public var identifier: UntrustedText
  /// The file in the store.
  public var file: StoredFile
  /// The URL that the payload named.
  public var source: UntrustedText
  public var options: AttachmentOptions

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
  /// Bytes.
  public var size: Int

  init(_ name: StoreName, size: Int) {
    (self.name, self.size) = (name, size)
  }

  /// - Parameters:
  ///   - sha256: 64 lower-case hexadecimal digits.
  ///   - type: what the bytes say.
  ///   - size: in bytes.
  /// - Returns: nil when the hash is no such text.
  public init?(sha256: String, type: MediaType, size: Int) {
    guard let name = StoreName(hexadecimal: sha256.utf8, type: type) else { return nil }
    self.init(name, size: size)
  }

  /// 64 lower-case hexadecimal digits.
  public var sha256: String { name.sha256 }
  /// The type that the bytes say.
  public var type: MediaType { name.type }
  /// The path within the store: two digits of the hash, a slash, the hash, and the type's
  /// extension.
  public var relativePath: String { name.path }
}
