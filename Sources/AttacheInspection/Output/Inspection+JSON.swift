internal import Attache

extension Inspection {
  /// Returns one JSON object without a line feed. Characters that control a terminal are escaped.
  package func json() -> [UInt8] {
    var json = JSONWriter()
    json.beginObject()
    json.member("line", line)
    json.member("kind", kind.name)
    json.member("runs", runs)
    json.member("dialect", dialect)
    json.member("media", media) { $0.write(to: &$1) }
    json.member("size", size)
    json.member("findings", findings) { $0.write(to: &$1) }
    writeRest(to: &json)
    json.endObject()
    return PrintableText.ofJSON(json.bytes)
  }

  private func writeRest(to json: inout JSONWriter) {
    json.member("why", why)
    json.member("maximum_size", maximumSize)
    if let attachedSize { json.member("attached_size", attachedSize) }
    json.member("alert", matrix.alert)
    json.member("content_available", matrix.contentAvailable)
    json.member("mutable_content", matrix.mutableContent)
    json.key("envelope")
    if let envelope { envelope.write(to: &json) } else { json.null() }
    json.key("overrides")
    json.texts(text?.overrides ?? [])
    json.key("on_failure")
    json.texts(text?.onFailure ?? [])
    json.member("actions", text?.actions ?? []) { $0.write(to: &$1) }
    json.member("encrypted", encrypted)
    if isEnriched { json.member("enriched", isEnriched) }
    if omitted > 0 { json.member("omitted", omitted) }
  }
}

extension InspectedMedia {
  fileprivate func write(to json: inout JSONWriter) {
    json.beginObject()
    json.member("url", reference.url)
    json.member("identifier", reference.identifier)
    json.member("type_hint", reference.typeHint)
    json.key("options")
    reference.options.write(to: &json)
    json.member("gates", gates) { $0.write(to: &$1) }
    json.member("hint_kind", reference.hintKind?.rawValue)
    json.member("role", reference.role.rawValue)
    json.member("lazy", reference.isLazy)
    json.member("needs", reference.needs.names) { $1.string($0) }
    json.member("path", reference.path)
    json.member("fallbacks", fallbacks) { $0.write(to: &$1) }
    json.member("fetch", fetch)
    json.endObject()
  }
}

extension InspectedMedia.Fallback {
  fileprivate func write(to json: inout JSONWriter) {
    json.beginObject()
    json.member("url", url)
    json.member("gates", gates) { $0.write(to: &$1) }
    json.member("fetch", fetch)
    json.endObject()
  }
}

extension GateAnswer {
  fileprivate func write(to json: inout JSONWriter) {
    json.beginObject()
    json.member("gate", gate.rawValue)
    json.key("passes")
    if let passes { json.boolean(passes) } else { json.null() }
    json.member("reason", reason?.rawValue)
    json.member("text", text)
    json.endObject()
  }
}

extension LintFinding {
  fileprivate func write(to json: inout JSONWriter) {
    json.beginObject()
    json.member("code", code.rawValue)
    json.member("severity", code.severity.rawValue)
    json.member("path", path)
    json.member("text", text)
    json.member("advice", code.advice)
    json.member("source", source)
    json.endObject()
  }
}

extension Envelope {
  fileprivate func write(to json: inout JSONWriter) {
    json.beginObject()
    json.member("name", name)
    json.member("priority", priority)
    json.member("expiration", expiration)
    json.member("push_type", pushType)
    json.member("token", token)
    json.key("time")
    if let time { json.double(time) } else { json.null() }
    if let notification { json.member("notification", notification) }
    json.endObject()
  }
}

extension DialectText.Action {
  fileprivate func write(to json: inout JSONWriter) {
    json.beginObject()
    json.member("identifier", identifier)
    json.member("title", title)
    json.member("url", url)
    json.member("icon", icon)
    json.member("destructive", isDestructive)
    json.endObject()
  }
}

extension MediaReference.Needs {
  /// The names of the requirements, as in a dialect file.
  var names: [String] {
    [(MediaReference.Needs.baseURL, "base-url"), (.credentials, "credentials"), (.https, "https"), (.typeHint, "type-hint")].compactMap {
      contains($0) ? $1 : nil
    }
  }
}

extension JSONWriter {
  mutating func member(_ name: String, _ value: Bool) {
    key(name)
    boolean(value)
  }

  /// Writes an array; `write` writes each element.
  fileprivate mutating func member<Element>(_ name: String, _ elements: [Element], _ write: (Element, inout JSONWriter) -> Void) {
    key(name)
    beginArray()
    for element in elements { write(element, &self) }
    endArray()
  }

  /// Writes the result of a fetch; writes nothing for a URL that was not tried.
  fileprivate mutating func member(_ name: String, _ record: MediaRecord?) {
    guard let record else { return }
    key(name)
    record.write(to: &self, showing: .full)
  }

  /// Writes an object of the texts, by the name of the field that they replace.
  fileprivate mutating func texts(_ texts: [DialectText.Override]) {
    beginObject()
    for text in texts { member(text.name, text.value) }
    endObject()
  }
}
