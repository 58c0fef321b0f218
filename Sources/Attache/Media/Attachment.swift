/// A stored, typed, checked file with its identifier and options.
public struct Attachment: Hashable, Sendable {
  /// The payload's identifier, or the first 16 hexadecimal digits of the source URL's SHA-256 when it gives none.
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
  /// 64 lower-case hexadecimal digits.
  public var sha256: String
  /// The type that the bytes say.
  public var type: MediaType
  /// Bytes.
  public var size: Int

  public init(sha256: String, type: MediaType, size: Int) {
    self.sha256 = sha256
    self.type = type
    self.size = size
  }

  /// The path within the store: two digits of the hash, a slash, the hash, and the type's extension.
  public var relativePath: String {
    sha256.prefix(2) + "/" + sha256 + "." + type.fileExtension
  }
}

extension StoredFile {
  init(_ name: StoreName, size: Int) {
    self.init(sha256: name.sha256, type: name.type, size: size)
  }
}
