/// Replacements of the URLs of attached media, and of the type hints that are no longer true. They
/// replace the bytes of these values in the line; all other bytes stay the same.
struct MediaEdit: Sendable {
  /// The replacement of a value.
  private struct Change {
    let path: ArraySlice<[JSONPointer.Token]>
    /// The value as the dialects read it. A value that differs stays.
    let old: UntrustedText
    /// Nil if the value stays.
    let new: UntrustedText?
  }

  private var changes: [Change] = []

  /// Creates the replacements for the attachments of a payload.
  ///
  /// A URL is replaced at each site, and so is each other URL of the same reference: they name the
  /// same media. If two media share a hint, the first decides.
  init(_ attachments: [Attachment], of payload: Payload, at address: StoreAddress) {
    guard !payload.sites.isEmpty else { return }
    var references = payload.references[...]
    for attachment in attachments {
      func names(_ reference: MediaReference) -> Bool {
        reference.url == attachment.source || reference.fallbacks.contains(attachment.source)
      }
      // The attachments are in the order of the references.
      let index = references.firstIndex(where: names)
      let media = index.map { payload.references[$0].url }
      references = references[(index.map { $0 + 1 } ?? references.startIndex)...]
      for site in payload.sites where site.url == attachment.source || site.media == media {
        add(site, attachment.file, address)
      }
    }
  }

  private mutating func add(_ site: MediaSite, _ file: StoredFile, _ address: StoreAddress) {
    // A URL of this form is already what attache would write.
    guard !address.matches(site.url) else { return }
    changes.append(Change(path: site.path[...], old: site.written, new: UntrustedText(address.url(of: file))))
    if let hint = site.hint {
      changes.append(Change(path: hint.path[...], old: hint.text, new: hint.replacement(for: file.type)))
    }
  }

  /// Returns the edits of a text, one for each value that changes. Two edits never overlap.
  ///
  /// - Parameter object: the payload's object in the text.
  func edits(of object: Range<Int>, in text: JSONText) -> [LineEdit] {
    Self.edits(changes, of: object, in: text)
  }

  private static func edits(_ changes: [Change], of object: Range<Int>, in text: JSONText) -> [LineEdit] {
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
    guard let string = text.string(value) else {
      let isNumber = new.utf8.allSatisfy { $0.decimalDigit != nil }
      return isNumber && text.source(value).elementsEqual(change.old.utf8) ? LineEdit(value, Array(new.utf8)) : nil
    }
    guard string.elementsEqual(change.old.utf8) else { return nil }
    var json = JSONWriter()
    json.string(new)
    return LineEdit(value, json.bytes)
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
    // Once for all edits, and again for their twins.
    let outer = place.lineEdits(made)
    let kept = made.indices.filter { index in
      !stride(from: index, to: outer.count, by: made.count).contains { twin in
        edits.contains { $0.range.overlaps(outer[twin].range) }
      }
    }
    edits += place.lineEdits(kept.map { made[$0] })
    splice.payloadCount += kept.reduce(0) { $0 + made[$1].growth }
    return !kept.isEmpty
  }
}

extension JSONText {
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
