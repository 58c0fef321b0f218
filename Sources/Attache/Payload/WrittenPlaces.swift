/// Finds where the sender of a line wrote the values of a payload. They are in the payload itself,
/// unless a service makes the payload from other members of its message.
///
/// The places are JSON pointers. In a string that holds JSON, they lead on into that JSON.
package final class WrittenPlaces {
  /// The text with the payload, and the payload's range in it.
  private let sent: JSONPlaces
  private let payload: Range<Int>
  /// What the service copies into the payload, in the order of writing; nil if it makes no payload.
  private let copies: [JSONCopy]?
  /// The innermost text of the line that contains the values, and its path.
  private let written: JSONPlaces
  private let outer: [JSONPointer.Token]
  /// The object of the line that receives the member.
  private let object: Range<Int>

  /// - Parameters:
  ///   - place: the position of the payload; nil if it is in the line itself.
  ///   - splice: the place of the result in the line.
  ///   - line: the JSON of the line.
  ///   - start: its offset in the line.
  package init(_ place: PayloadPlace?, _ splice: Splice, in line: JSONPlaces, at start: Int) {
    written = place?.text.map { JSONPlaces($0) } ?? line
    outer = (place?.levels ?? []).flatMap { level in
      JSONPlaces(level.text).path(to: level.string.lowerBound - 1..<level.string.upperBound + 1)
    }
    object = place?.object ?? splice.payload.lowerBound - start..<splice.payload.upperBound - start
    if let place, let built = place.built, !built.elementsEqual(written.text.source(object)) {
      sent = JSONPlaces(JSONText(built))
      (payload, copies) = (sent.text.root, place.copies)
    } else {
      (sent, payload, copies) = (written, object, nil)
    }
  }

  /// The place of the object that receives the member: the payload, or where a service reads the
  /// app's own data.
  package var target: JSONPointer { place(ofWritten: object) }

  /// Returns the place of the value that the payload has at a place; nil if the service adds it.
  package func place(of place: JSONPointer) -> JSONPointer? {
    guard let value = sent.value(at: place.tokens, below: payload) else { return nil }
    guard let copies else { return self.place(ofWritten: value) }
    guard let copy = copies.lastIndex(notAfter: value.lowerBound, \.start), let origin = copies[copy].origin(of: value) else { return nil }
    return self.place(ofWritten: origin)
  }

  private func place(ofWritten value: Range<Int>) -> JSONPointer {
    JSONPointer(tokens: outer + written.path(to: value))
  }
}

extension Payload {
  /// Returns where the line has a value of the payload; nil if a service adds it.
  func writtenPlace(of place: JSONPointer, in line: Segment) -> JSONPointer? {
    let bytes = line.bytes
    // A payload in an envelope knows where the JSON begins. A byte order mark is no part of it.
    let start = self.place?.start ?? (bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0)
    let text = JSONPlaces(JSONText(Array(bytes[start...])))
    return WrittenPlaces(self.place, splice, in: text, at: start).place(of: place)
  }
}
