/// Replacements of the URLs of attached media, and of the type hints that are no longer true. They
/// replace the bytes of these values in the line; all other bytes stay the same.
struct MediaEdit: Sendable {
  /// The replacement of a value.
  private struct Change {
    let path: ArraySlice<[JSONPointer.Token]>
    /// The value as the dialects read it. A value that differs stays.
    let old: UntrustedText
    /// A JSON string; nil if the value stays.
    let new: [UInt8]?
  }

  private var changes: [Change] = []
  /// The replacements of a message's pictures, in the innermost text.
  private(set) var pictures: [LineEdit] = []

  /// Creates the replacements for the attachments of a payload.
  ///
  /// A URL is replaced at each site, and so is each other URL of the same reference: they name the
  /// same media. If two media share a hint, the first decides.
  init(_ attachments: [Attachment], of payload: Payload, at address: StoreAddress) {
    let pictures = payload.place?.pictures ?? []
    guard !payload.sites.isEmpty || !pictures.isEmpty else { return }
    var next = payload.references.startIndex
    for attachment in attachments {
      // The attachments are in the order of the references.
      let index = payload.references[next...].indices.first { payload.references[$0].names(attachment.source) }
      let media = index.map { payload.references[$0].url }
      next = index.map { $0 + 1 } ?? next
      let new = address.json(of: attachment.file)
      for site in payload.sites where site.url == attachment.source || site.media == media {
        add(site, attachment.file, new, address)
      }
      for picture in pictures where (picture.url == attachment.source || picture.url == media) && !address.matches(picture.url) {
        self.pictures.append(LineEdit(picture.value, new))
      }
    }
  }

  private mutating func add(_ site: MediaSite, _ file: StoredFile, _ new: [UInt8], _ address: StoreAddress) {
    // A URL of this form is already what attache would write.
    guard !address.matches(site.url) else { return }
    changes.append(Change(path: site.path[...], old: site.written, new: new))
    if let hint = site.hint {
      changes.append(Change(path: hint.path[...], old: hint.text, new: hint.replacement(for: file.type).map(JSONWriter.string)))
    }
  }

  /// Returns the edits of a text, one for each value that changes. Two edits never overlap.
  ///
  /// - Parameter object: the payload's object in the text.
  func edits(of object: Range<Int>, in text: JSONText) -> [LineEdit] {
    Self.edits(changes, of: object, in: text)
  }

  private static func edits(_ changes: [Change], of object: Range<Int>, in text: JSONText) -> [LineEdit] {
    // Most payloads name one URL, in the payload itself.
    if changes.count == 1, changes[0].path.count == 1, let path = changes[0].path.first {
      return text.value(at: path, of: object).flatMap { edit($0, changes[0], in: text) }.map { [$0] } ?? []
    }
    var values: [Range<Int>: [Change]] = [:]
    for (change, value) in zip(changes, text.values(at: changes.compactMap { $0.path.first?[...] }, of: object)) {
      if let value { values[value, default: []].append(change) }
    }
    return values.sorted { $0.key.lowerBound < $1.key.lowerBound }.flatMap { value, changes in
      let inner = changes.filter { $0.path.count > 1 }
      if inner.isEmpty { return edit(value, changes[0], in: text).map { [$0] } ?? [] }
      return edits(inner.map { Change(path: $0.path.dropFirst(), old: $0.old, new: $0.new) }, inString: value, of: text)
    }
  }

  /// Returns the edits of the JSON that a string contains, as edits of the text around it.
  private static func edits(_ changes: [Change], inString value: Range<Int>, of text: JSONText) -> [LineEdit] {
    guard let bytes = text.string(value), bytes.first != 0xEF, JSONCheck(capacity: bytes.count).isJSON(bytes) else { return [] }
    let inner = JSONText(bytes)
    let level = PayloadPlace.Level(text: text, string: value.withoutQuotes)
    return PayloadPlace(levels: [level], text: inner, object: inner.root).lineEdits(edits(changes, of: inner.root, in: inner))
  }

  /// Returns the edit of a value that is what the dialects read: a string, or a number whose new
  /// value is a number too.
  private static func edit(_ value: Range<Int>, _ change: Change, in text: JSONText) -> LineEdit? {
    guard let new = change.new else { return nil }
    if text.first(value) != UInt8(ascii: "\"") {
      let number = new.dropFirst().dropLast()
      let isNumber = number.allSatisfy { $0.decimalDigit != nil }
      return isNumber && text.source(value).elementsEqual(change.old.utf8) ? LineEdit(value, Array(number)) : nil
    }
    return text.isString(value, change.old) ? LineEdit(value, new) : nil
  }
}

extension Payload {
  /// Records the edits that replace the media's URLs when the line is written, and the payload's
  /// new size. A value that other edits change keeps what they give it.
  ///
  /// - Returns: whether a value is replaced.
  @discardableResult
  mutating func apply(_ edit: MediaEdit, in line: Segment) -> Bool {
    let (text, place) = written(in: line)
    let made: [LineEdit]
    if let built = place.built.map({ JSONText($0) }), !place.copies.isEmpty {
      made = edit.edits(of: built.root, in: built).compactMap { edit in
        place.copies.lazy.compactMap { $0.origin(of: edit.range) }.first.map { LineEdit($0, edit.bytes) }
      }
    } else {
      made = edit.edits(of: place.object, in: text)
    }
    // APNs does not receive the other pictures, so they do not count for its limit.
    let others = edit.pictures.filter { picture in !made.contains { $0.range == picture.range } }
    // Once for all edits, and again for their twins.
    let all = made + others
    let outer = place.lineEdits(all)
    guard !edits.isEmpty else {
      edits = outer
      splice.payloadCount += made.reduce(0) { $0 + $1.growth }
      return !outer.isEmpty
    }
    let kept = all.indices.filter { index in
      !stride(from: index, to: outer.count, by: all.count).contains { twin in
        edits.contains { $0.range.overlaps(outer[twin].range) }
      }
    }
    edits += place.lineEdits(kept.map { all[$0] })
    splice.payloadCount += kept.reduce(0) { $0 + ($1 < made.count ? made[$1].growth : 0) }
    return !kept.isEmpty
  }
}

extension MediaReference {
  /// Whether this is one of the reference's URLs.
  fileprivate func names(_ source: UntrustedText) -> Bool {
    url == source || fallbacks.contains(source)
  }
}

extension JSONWriter {
  /// Returns a text as a JSON string.
  fileprivate static func string(_ text: UntrustedText) -> [UInt8] {
    var json = JSONWriter()
    json.string(text)
    return json.bytes
  }
}

extension JSONText {
  /// Whether the value is a string with this text.
  fileprivate func isString(_ value: Range<Int>, _ text: UntrustedText) -> Bool {
    let written = bytes[value].dropFirst().dropLast()
    if written.count == text.utf8.count, text.isEqual(to: written) { return true }
    // An escaped string is longer than its text.
    return written.count > text.utf8.count && string(value)?.elementsEqual(text.utf8) == true
  }

  /// Returns the value at a path below a value, as ``values(at:of:)`` does.
  fileprivate func value(at path: [JSONPointer.Token], of value: Range<Int>) -> Range<Int>? {
    var value = value
    for token in path {
      var next: Range<Int>?
      if isArray(value) {
        let elements = elements(of: value)
        if let index = token.index, elements.indices.contains(index) { next = elements[index] }
      } else {
        next = self.value(token.text, of: value)
      }
      guard let next else { return nil }
      value = next
    }
    return value
  }

  /// Returns the value at each path below a value: in an object the last member of a name, in an
  /// array the element at an index; nil if there is none. Passes over the text once.
  func values(at paths: [ArraySlice<JSONPointer.Token>], of value: Range<Int>) -> [Range<Int>?] {
    var found = [Range<Int>?](repeating: nil, count: paths.count)
    find(Array(paths.enumerated()), in: value, &found)
    return found
  }

  private typealias Path = (offset: Int, element: ArraySlice<JSONPointer.Token>)

  private func find(_ paths: [Path], in value: Range<Int>, _ found: inout [Range<Int>?]) {
    var steps: [(token: JSONPointer.Token, paths: [Path], value: Range<Int>?)] = []
    for path in paths {
      guard let token = path.element.first else {
        found[path.offset] = value
        continue
      }
      let rest = (path.offset, path.element.dropFirst())
      if let index = steps.firstIndex(where: { $0.token.text.utf8.elementsEqual(token.text.utf8) }) {
        steps[index].paths.append(rest)
      } else {
        steps.append((token, [rest], nil))
      }
    }
    guard !steps.isEmpty else { return }
    if isArray(value) {
      let elements = elements(of: value)
      for index in steps.indices {
        if let element = steps[index].token.index, elements.indices.contains(element) { steps[index].value = elements[element] }
      }
    } else {
      forEachMember(of: value) { member in
        for index in steps.indices where isNamed(member, steps[index].token.text) { steps[index].value = member.value }
      }
    }
    for step in steps { step.value.map { find(step.paths, in: $0, &found) } }
  }
}
