/// Reads one value at a source's place into a reference; what has the wrong type is taken as absent.
struct MediaSourceReader {
  let source: MediaSource
  let payload: JSONElement

  /// The reference of a string or of an object with a URL; nil when there is none, or an empty one.
  func reference(at value: JSONElement) -> MediaReference? {
    if let url = url(value) { return describe(url, object: nil) }
    guard case .any(let key) = source.form, value.isObject else { return nil }
    return value.member(key).flatMap(url).map { describe($0, object: value) }
  }

  private func url(_ value: JSONElement) -> String? {
    guard let text = value.text else { return nil }
    return source.needsScheme && !text.hasAuthority ? nil : text
  }

  private func describe(_ url: String, object: JSONElement?) -> MediaReference {
    MediaReference(
      url: url,
      identifier: text(source.identifier, object),
      typeHint: text(source.typeHint, object),
      options: AttachmentOptions(
        thumbnailHidden: value(source.thumbnailHidden, object)?.boolean,
        thumbnailClippingRect: value(source.thumbnailClippingRect, object).flatMap(ClippingRect.init),
        thumbnailTime: value(source.thumbnailTime, object)?.number.flatMap { $0 >= 0 ? $0 : nil }))
  }

  private func text(_ field: MediaSource.Field?, _ object: JSONElement?) -> String? {
    if case .fixed(let text) = field { return text }
    return value(field, object)?.text
  }

  private func value(_ field: MediaSource.Field?, _ object: JSONElement?) -> JSONElement? {
    switch field {
    case .inside(let path): object?.value(at: path.tokens)
    case .at(let path): payload.value(at: path.tokens)
    case .fixed, nil: nil
    }
  }
}

extension String {
  /// Whether this holds `://`, as every URL does that can be fetched.
  fileprivate var hasAuthority: Bool {
    guard let colon = utf8.firstIndex(of: UInt8(ascii: ":")) else { return false }
    return utf8[colon...].starts(with: "://".utf8)
  }
}

extension ClippingRect {
  /// A rectangle in unit coordinates; nil unless all four numbers are there and lie in 0…1.
  fileprivate init?(_ value: JSONElement) {
    let sides = ["x", "y", "width", "height"].compactMap { value.member($0)?.number }
    guard sides.count == 4, sides.allSatisfy({ 0...1 ~= $0 }) else { return nil }
    self.init(x: sides[0], y: sides[1], width: sides[2], height: sides[3])
  }
}
