/// Writes the member that is added to an attached payload: `"attache":{"attachments":[…]}`.
public struct AttachmentMember: Sendable {
  /// The member's name.
  let key: String
  /// The base URL with its trailing slash, as it is written within a JSON string.
  private let base: [UInt8]

  /// Creates a writer.
  ///
  /// - Parameters:
  ///   - key: the member's name, `attache` unless the user renames it.
  ///   - baseURL: the base URL of the store's files: the store's file URL, or an address that
  ///     serves it. A missing trailing slash is added.
  public init(key: String = "attache", baseURL: String) {
    self.key = key
    base = JSONString.escaped(Array(StoreAddress(base: baseURL).base.utf8))
  }

  /// Returns the member's key, colon and value, without spaces and without a comma before or after.
  /// The attachments keep their order.
  public func bytes(for attachments: [Attachment]) -> [UInt8] {
    // The space that a photo with a URL of usual length needs.
    var json = JSONWriter(capacity: 512 * attachments.count)
    json.key(key)
    json.beginObject()
    json.key("attachments")
    json.beginArray()
    for attachment in attachments { write(attachment, to: &json) }
    json.endArray()
    json.endObject()
    return json.bytes
  }

  private func write(_ attachment: Attachment, to json: inout JSONWriter) {
    json.beginObject()
    json.key("identifier")
    json.string(attachment.identifier)
    json.key("url")
    json.string(unescaped: { text in
      text += base
      attachment.file.name.appendPath(to: &text)
    })
    json.key("type")
    json.string(attachment.file.type.rawValue)
    json.key("mime")
    json.string(attachment.file.type.mime)
    json.key("size")
    json.integer(attachment.file.size)
    json.key("sha256")
    json.string(unescaped: { attachment.file.name.appendSHA256(to: &$0) })
    json.key("source")
    json.string(attachment.source)
    if !attachment.options.isEmpty {
      json.key("options")
      attachment.options.write(to: &json)
    }
    json.endObject()
  }
}

extension AttachmentOptions {
  /// Writes an object of the options that were set.
  package func write(to json: inout JSONWriter) {
    json.beginObject()
    if let thumbnailHidden {
      json.key("thumbnailHidden")
      json.boolean(thumbnailHidden)
    }
    if let rect = thumbnailClippingRect {
      json.key("thumbnailClippingRect")
      json.beginObject()
      for (name, value) in [("x", rect.x), ("y", rect.y), ("width", rect.width), ("height", rect.height)] {
        json.key(name)
        json.double(value)
      }
      json.endObject()
    }
    if let thumbnailTime {
      json.key("thumbnailTime")
      json.double(thumbnailTime)
    }
    json.endObject()
  }
}
