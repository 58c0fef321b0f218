/// How the body of an alert is cut, so that its payload is not larger than its limit.
enum BodyFit {
  /// By edits of the line; they free these bytes.
  case edits([LineEdit], CutString)
  /// By the changes of the content with a shorter body.
  case content(ContentEdit, CutString)
}

extension Payload {
  /// Returns how to cut the body; nil if there is none to cut, or if nothing of it would be left.
  ///
  /// The body is cut where its sender wrote it. If a service copies it from a text that all kinds of
  /// devices show, the payload gets an alert of its own instead.
  ///
  /// - Parameters:
  ///   - count: the number of bytes by which the payload must become smaller.
  ///   - edit: the changes of the content that the line gets.
  ///   - edits: all edits that the line gets.
  func fitting(freeing count: Int, besides edit: ContentEdit, _ edits: [LineEdit], in line: Segment) -> BodyFit? {
    if edit.changesBody { return edit.body.flatMap { Self.content(edit, $0, freeing: count) } }
    let (text, place) = written(in: line)
    guard let alert = place.alert ?? (self.place == nil ? AlertPlace(apsOf: place.object, in: text) : nil) else { return nil }
    guard let body = place.body(in: text) else {
      let given = alert.isAps ? alert.given.first { $0.isNamed("body") }?.source : nil
      return given.flatMap { Self.content(edit, $0, freeing: count) }
    }
    guard let cut = CutString(body.withoutQuotes, in: text.bytes.span, freeing: count) else { return nil }
    let made = place.lineEdits([LineEdit(cut.range, CutString.ellipsis)])
    if !LineEdit.overlap(edits + made) { return .edits(made, cut) }
    // A changed title replaces the whole of an alert that is a string.
    return edit.hasTexts ? Self.content(edit, Array(text.source(body)), freeing: count) : nil
  }

  /// - Parameter body: the JSON string of the body.
  private static func content(_ edit: ContentEdit, _ body: [UInt8], freeing count: Int) -> BodyFit? {
    CutString((0..<body.count).withoutQuotes, in: body.span, freeing: count).map { cut in
      .content(edit.with(body: LineEdit.apply([LineEdit(cut.range, CutString.ellipsis)], to: body)), cut)
    }
  }
}

extension PayloadPlace {
  /// Returns the body of the alert that APNs receives, in the innermost text; nil if there is none, or
  /// if the service writes it.
  fileprivate func body(in text: JSONText) -> Range<Int>? {
    guard let built, !built.elementsEqual(text.source(object)) else { return text.body(of: object) }
    let sent = JSONText(built)
    return sent.body(of: sent.root).flatMap { body in copies.lazy.compactMap { $0.origin(of: body) }.first }
  }
}

extension JSONText {
  /// Returns the text that a payload's alert is, or has as its body; nil if it is empty.
  fileprivate func body(of payload: Range<Int>) -> Range<Int>? {
    guard let alert = object("aps", of: payload).flatMap({ value("alert", of: $0) }) else { return nil }
    return isText(alert) ? alert : self.text(at: ["body"], of: alert)
  }
}
