extension Payload {
  /// Records the edits that make the changes when the line is written, and the payload's new size.
  ///
  /// - Returns: false if the line has no place for one of the changes; nothing is recorded then.
  mutating func apply(_ edit: ContentEdit, in line: Segment) -> Bool {
    var (text, place) = written(in: line)
    if self.place == nil { place.alert = AlertPlace(apsOf: place.object, in: text) }
    guard let made = edit.edits(at: place, in: text), !LineEdit.overlap(made) else { return false }
    edits = place.lineEdits(made)
    splice.payloadCount += made.reduce(0) { $0 + $1.growth }
    return true
  }

  /// Returns the innermost text that contains the payload, and the payload's place in it.
  func written(in line: Segment) -> (text: JSONText, place: PayloadPlace) {
    guard let place else {
      let place = PayloadPlace(start: splice.payload.lowerBound, object: 0..<splice.payload.count)
      return (JSONText(line.bytes(in: splice.payload)), place)
    }
    return (place.text ?? JSONText(line.bytes(in: place.start..<line.count)), place)
  }
}
