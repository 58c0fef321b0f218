/// A line whose payload is in an envelope.
struct OpenedEnvelope {
  var envelope: Envelope
  var place: PayloadPlace
  /// The objects that contain delivery information, in the envelope's text. The first that has a
  /// value is used.
  var delivery: [Range<Int>] = []

  /// - Parameters:
  ///   - payload: the JSON of the payload as the service sends it to APNs.
  ///   - copies: the values of the payload that the service copies from the envelope; none if the
  ///     payload is the object of the place.
  init(_ form: Envelope.Form, payload: [UInt8], copies: [JSONCopy] = [], place: PayloadPlace, delivery: [Range<Int>] = []) {
    envelope = Envelope(form)
    self.place = place
    (self.place.built, self.place.payloadCount, self.place.copies) = (payload, payload.count, copies)
    self.delivery = delivery
  }
}

extension PayloadPlace {
  /// Creates the place in the member `data` of a message, which is created if missing; nil if
  /// `data` is not an object.
  init?(dataOf message: Range<Int>, in text: JSONText) {
    guard let data = text.value("data", of: message) else {
      self.init(object: message, wrapper: "data")
      return
    }
    guard text.isObject(data) else { return nil }
    self.init(object: data, isEmptyObject: text.members(of: data).isEmpty)
  }
}

extension JSONText {
  /// Returns the value at the end of a path if it is a non-empty string.
  func text(at path: [String], of object: Range<Int>) -> Range<Int>? {
    let found = path.reduce(object as Range<Int>?) { object, name in object.flatMap { value(name, of: $0) } }
    return found.flatMap { isText($0) ? $0 : nil }
  }

  /// Returns the member if it is an object.
  func object(_ name: String, of object: Range<Int>) -> Range<Int>? {
    value(name, of: object).flatMap { isObject($0) ? $0 : nil }
  }

  /// Returns whether a flag is set: the number 1 or `true`.
  func isSet(_ name: String, of object: Range<Int>) -> Bool {
    value(name, of: object).map { source($0).elementsEqual("true".utf8) || source($0).elementsEqual("1".utf8) } ?? false
  }
}

extension JSONWriter {
  /// Writes a copy of a member from another text.
  package mutating func member(_ member: JSONText.Member, of text: JSONText) {
    key(source: text.source(member.name))
    copy(member.value, of: text)
  }

  /// Writes a value from another text under a new name, if there is a value.
  package mutating func member(_ name: String, _ value: Range<Int>?, of text: JSONText) {
    guard let value else { return }
    key(name)
    copy(value, of: text)
  }

  /// Writes the number 1 for one of Apple's flags, if it is set.
  package mutating func flag(_ name: String, _ isSet: Bool) {
    guard isSet else { return }
    key(name)
    integer(1)
  }
}
