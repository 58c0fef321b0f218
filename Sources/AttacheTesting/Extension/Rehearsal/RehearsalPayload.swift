internal import Attache
internal import FoundationEssentials

/// A payload that asks a service extension for media, in variants.
package struct RehearsalPayload: Sendable {
  private let root: JSONValue
  /// The `apns-priority` of the payload's envelope; nil if it has none.
  private(set) var priority: Int?
  /// Whether this is ``standard``.
  private(set) var isStandard = false

  /// Why a line gives no payload.
  package struct Refusal: Error {
    package var why: String

    package init(why: String) {
      self.why = why
    }
  }

  /// Reads a payload of a user's server, alone or in the envelope of a push service.
  ///
  /// - Throws: ``Refusal`` if the line has no payload, or several.
  package init(line: [UInt8]) throws(Refusal) {
    let push: Push
    switch PushReader().read(line) {
    case .push(let read): push = read
    case .several(let count): throw Refusal(why: "the line has \(count) notifications; keep one of them")
    case .nothing(let why): throw Refusal(why: why)
    }
    guard let value = try? JSONReader.read(push.payload[...]), case .object = value else { throw Refusal(why: "the payload is not JSON") }
    (root, priority) = (value, push.envelope?.priority)
  }

  /// Why iOS starts no service extension for the payload; nil if it does.
  package var whyNotStarted: String? {
    let alert = root.value(at: ["aps", "alert"])
    let names = ["title", "subtitle", "body", "title-loc-key", "subtitle-loc-key", "loc-key"]
    guard alert?.text?.isEmpty == false || names.contains(where: { alert?.text(at: [$0])?.isEmpty == false }) else {
      return "the payload shows no alert"
    }
    switch root.value(at: ["aps", "mutable-content"]) {
    case .number(let number) where number.integer == 1: return nil
    case .boolean(true): return nil
    default: return "\"mutable-content\" in \"aps\" is not 1"
    }
  }

  /// Whether a URL of the user's payload has plain http.
  var namesHTTP: Bool { !isStandard && root.urls.contains { $0.starts(with: "http://".utf8) } }

  /// The host of the first URL of the user's payload; nil if there is none.
  var host: String? {
    isStandard ? nil : root.urls.lazy.compactMap { URL(string: String(decoding: $0, as: UTF8.self))?.host() }.first
  }

  /// The payload that has every key under which attache knows media: those of hand-written
  /// extensions, and the sample of each dialect as far as it does not contradict an earlier one.
  package static var standard: RehearsalPayload {
    let alert = object(["title": text("Good morning"), "body": text("Your coffee is ready")])
    var root = object(["aps": object(["alert": alert, "mutable-content": .number(JSONNumber("1"))])])
    let entries = DialectTable().entries
    for entry in entries where entry.name == "generic" {
      guard case .array(let places)? = (try? JSONReader.read(Array(entry.json.utf8)[...]))?.value(at: ["media"]) else { continue }
      for case let path? in places.map({ $0.text(at: ["url"]) }) where !path.contains("[") && !path.contains("{") && !path.hasPrefix("/") {
        let nested = path.split(separator: ".").reversed().reduce(text("https://media.example/photo.jpg")) { object([String($1): $0]) }
        root = root.merged(with: nested)
      }
    }
    for case let payload? in entries.map(\.samplePayload) {
      if let value = try? JSONReader.read(Array(payload.utf8)[...]) { root = root.merged(with: value) }
    }
    var payload = RehearsalPayload(root)
    payload.isStandard = true
    return payload
  }

  private init(_ root: JSONValue) {
    (self.root, priority) = (root, nil)
  }

  /// Returns the payload with every URL replaced by one.
  func naming(_ url: String) -> [UInt8] {
    root.replacingURLs(by: Self.text(url)).json
  }

  /// Returns the payload with a number where each URL was.
  func withNumbers() -> [UInt8] {
    root.replacingURLs(by: .number(JSONNumber("7"))).json
  }

  /// Returns the payload with a URL, and with an alert that is a string.
  func withAlertText(_ url: String) -> [UInt8] {
    let body = root.text(at: ["aps", "alert", "body"]) ?? root.text(at: ["aps", "alert"]) ?? "Your coffee is ready"
    let value = root.replacingURLs(by: Self.text(url))
    return value.setting(["aps", "alert"], to: Self.text(body)).json
  }

  /// Returns the payload as a silent push.
  ///
  /// - Parameters:
  ///   - url: replaces every URL; nil for a payload with `aps` alone.
  ///   - hasAlert: whether it shows an alert, too.
  package func silent(_ url: String?, hasAlert: Bool) -> [UInt8] {
    var aps: [String: JSONValue] = ["content-available": .number(JSONNumber("1"))]
    if hasAlert, let alert = root.value(at: ["aps", "alert"]) { aps["alert"] = alert }
    guard let url else { return Self.object(["aps": Self.object(aps)]).json }
    return root.replacingURLs(by: Self.text(url)).setting(["aps"], to: Self.object(aps)).json
  }

  /// Returns the payload with `aps` alone.
  func plain() -> [UInt8] {
    Self.object(["aps": root.value(at: ["aps"]) ?? .null, "id": Self.text("7")]).json
  }

  /// Returns the smallest payload for which iOS starts a service extension.
  func bare() -> [UInt8] {
    let aps = Self.object(["alert": Self.object(["body": Self.text("Hello")]), "mutable-content": .number(JSONNumber("1"))])
    return Self.object(["aps": aps]).json
  }

  private static func text(_ text: String) -> JSONValue { .string(Array(text.utf8)) }

  private static func object(_ members: [String: JSONValue]) -> JSONValue {
    .object(JSONObject(members: Dictionary(uniqueKeysWithValues: members.map { (Array($0.utf8), $1) }), closingBrace: 0))
  }
}

extension JSONNumber {
  /// - Parameter text: a number in JSON syntax.
  fileprivate init(_ text: String) {
    self.init(Array(text.utf8).span)
  }
}

extension JSONValue {
  /// Returns this value with the members of another that it does not have. Objects are merged.
  fileprivate func merged(with other: JSONValue) -> JSONValue {
    guard case .object(var mine) = self, case .object(let theirs) = other else { return self }
    mine.members.merge(theirs.members) { $0.merged(with: $1) }
    return .object(mine)
  }

  fileprivate func setting(_ path: ArraySlice<String>, to value: JSONValue) -> JSONValue {
    guard let name = path.first else { return value }
    guard case .object(var object) = self else { return self }
    object.members[Array(name.utf8)] = (object.members[Array(name.utf8)] ?? .null).setting(path.dropFirst(), to: value)
    return .object(object)
  }

  private var isURL: Bool {
    if case .string(let bytes) = self { bytes.starts(with: "http://".utf8) || bytes.starts(with: "https://".utf8) } else { false }
  }

  /// The texts that are URLs, in the alphabetical order of their keys.
  fileprivate var urls: [[UInt8]] {
    switch self {
    case .string(let bytes): isURL ? [bytes] : []
    case .array(let elements): elements.flatMap(\.urls)
    case .object(let object):
      object.members.sorted { $0.key.lexicographicallyPrecedes($1.key) }.flatMap(\.value.urls)
    case .null, .boolean, .number: []
    }
  }

  fileprivate func replacingURLs(by replacement: JSONValue) -> JSONValue {
    switch self {
    case .string: isURL ? replacement : self
    case .array(let elements): .array(elements.map { $0.replacingURLs(by: replacement) })
    case .object(let object):
      .object(JSONObject(members: object.members.mapValues { $0.replacingURLs(by: replacement) }, closingBrace: object.closingBrace))
    case .null, .boolean, .number: self
    }
  }

  /// The value as JSON.
  fileprivate var json: [UInt8] {
    var json = JSONWriter()
    write(to: &json)
    return json.bytes
  }

  private func write(to json: inout JSONWriter) {
    switch self {
    case .null: json.null()
    case .boolean(let value): json.boolean(value)
    case .number(let number): json.source(number.text.utf8)
    case .string(let bytes): json.string(UntrustedText(String(decoding: bytes, as: UTF8.self)))
    case .array(let elements):
      json.beginArray()
      for element in elements { element.write(to: &json) }
      json.endArray()
    case .object(let object):
      json.beginObject()
      for (name, value) in object.members.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
        json.key(String(decoding: name, as: UTF8.self))
        value.write(to: &json)
      }
      json.endObject()
    }
  }
}

extension JSONValue {
  fileprivate func setting(_ path: [String], to value: JSONValue) -> JSONValue {
    setting(path[...], to: value)
  }
}
