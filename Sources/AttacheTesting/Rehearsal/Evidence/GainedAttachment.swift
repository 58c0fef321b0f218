package import Attache

/// The place in a line where attache puts its member.
package struct OutputPlace: Sendable, Hashable {
  /// The member's name.
  package var key: String
  /// The names on the path to the payload within the line; empty when the payload is the whole
  /// line.
  package var payloadPath: [String]
  /// Whether the alert texts of an attached payload can change.
  package var appliesOverrides: Bool
  /// The base of the addresses that can replace URLs; nil when URLs stay.
  package var publicURL: String?
  /// Whether an attached payload gets the member.
  package var addsMember = true

  package init(key: String = "attache", payloadPath: [String] = [], appliesOverrides: Bool = false) {
    self.key = key
    self.payloadPath = payloadPath
    self.appliesOverrides = appliesOverrides
  }

  /// Creates the place where a filter with this configuration puts its member.
  package init(_ filter: FilterConfiguration) {
    self.init(
      key: filter.outputKey, payloadPath: filter.payloadPath?.parts ?? [], appliesOverrides: filter.appliesOverrides || filter.fitsPayload)
    publicURL = filter.rewritingURL
    addsMember = filter.attachAs != .url
  }

  /// Returns the objects that have the member, in the line's order. This is the payload if it has
  /// `aps`. Otherwise it is the first object that has the member; for a request with several
  /// notifications, the first in each.
  func holders(in line: JSONValue) -> [JSONObject] {
    let payload = payload(of: line)
    if let payload, payload.members[Array("aps".utf8)] != nil { return [payload] }
    let name = Array(key.utf8)
    return (notifications(in: line) ?? [line.unfolded]).compactMap { $0.holder(of: name) }
  }

  /// Returns the notifications of a request that has several, or is an array; nil for any other line.
  func notifications(in line: JSONValue) -> [JSONValue]? {
    if case .array(let elements) = line { return elements }
    guard case .object(let object) = line, case .array(let elements) = object.members[Array("notifications".utf8)] else { return nil }
    return elements
  }

  /// Returns the payload of a line; nil when there is none.
  func payload(of line: JSONValue) -> JSONObject? {
    guard case .object(let object) = line.value(at: payloadPath) else { return nil }
    return object
  }
}

/// An attachment that the output names.
package struct GainedAttachment: Sendable, Hashable {
  package var url: String
  package var type: String
  /// Nil if the output does not give it.
  package var size: Int?
  package var sha256: String

  package init(url: String, type: String, size: Int?, sha256: String) {
    self.url = url
    self.type = type
    self.size = size
    self.sha256 = sha256
  }

  /// Returns the attachments that a line of output names.
  ///
  /// - Returns: nil when the line has no member for them, or one that attache does not write.
  package static func read(_ line: ArraySlice<UInt8>, at place: OutputPlace = OutputPlace()) -> [GainedAttachment]? {
    guard let value = try? JSONReader.read(line) else { return nil }
    if !place.addsMember, let base = place.publicURL {
      let addresses = value.unfolded.addresses(under: base)
      return addresses.isEmpty ? nil : addresses
    }
    let holders = place.holders(in: value)
    var attachments: [GainedAttachment] = []
    for holder in holders {
      guard case .array(let elements) = holder.members[Array(place.key.utf8)]?.value(at: ["attachments"]) else { return nil }
      let gained = elements.compactMap(GainedAttachment.init)
      guard gained.count == elements.count else { return nil }
      attachments += gained
    }
    return holders.isEmpty ? nil : attachments
  }

  /// Interprets the public address of a file in the store.
  fileprivate init?(address: [UInt8], under base: String) {
    let name = String(decoding: address, as: UTF8.self).split(separator: "/").last.map { $0.split(separator: ".") } ?? []
    guard address.starts(with: base.utf8), name.count == 2, name[0].utf8.count == 64, let type = MediaType(fileExtension: String(name[1]))
    else { return nil }
    self.init(url: String(decoding: address, as: UTF8.self), type: type.rawValue, size: nil, sha256: String(name[0]))
  }

  private init?(_ value: JSONValue) {
    guard let url = value.text("url"), let type = value.text("type"), let sha256 = value.text("sha256"),
      let size = value.value(at: ["size"])?.integer
    else { return nil }
    self.init(url: url, type: type, size: size, sha256: sha256)
  }
}

extension JSONValue {
  /// The attachments whose public addresses are strings of the value, each once.
  fileprivate func addresses(under base: String) -> [GainedAttachment] {
    var found: [GainedAttachment] = []
    func add(_ value: JSONValue) {
      switch value {
      case .object(let object):
        for (_, value) in object.members.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) { add(value) }
      case .array(let elements): elements.forEach(add)
      case .string(let bytes):
        if let attachment = GainedAttachment(address: bytes, under: base), !found.contains(attachment) { found.append(attachment) }
      case .null, .boolean, .number: break
      }
    }
    add(self)
    return found
  }

  fileprivate func text(_ name: String) -> String? {
    guard case .string(let bytes) = value(at: [name]) else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  fileprivate var integer: Int? {
    guard case .number(let number) = self else { return nil }
    return number.integer
  }
}
