extension ExtensionEvent {
  /// Parses a frame of the process, without its length.
  ///
  /// - Parameter check: decides whether bytes are JSON.
  /// - Throws: ``FrameStream/Fault/invalid`` for anything that the library does not send.
  init(frame: ArraySlice<UInt8>, check: JSONCheck) throws(FrameStream.Fault) {
    guard let kind = frame.first else { throw .invalid }
    let json = Array(frame.dropFirst())
    guard check.isJSON(json) else { throw .invalid }
    let object = FrameObject(JSONText(json))
    switch kind {
    case 1: self = .ready(version: try object.integer("version"), className: try object.string("class"))
    case 2: self = .began(try object.number())
    case 3: self = .returned(try object.number())
    case 4:
      let (number, call, answer) = (try object.number(), try object.integer("call"), try object.answer())
      self =
        answer.changes.count + answer.userInfo.count <= ContentEdit.maximumEdits
        ? .answer(number, call: call, answer)
        : .unreadable(number, why: "it changes more than \(ContentEdit.maximumEdits) members")
    case 5: self = .expired(try object.number())
    case 6: self = .finished(try object.number(), isAlive: try object.flag("isAlive"), isChangedAfter: try object.flag("isChangedAfter"))
    case 7:
      self = .refusedAttachment(path: try object.string("path"), code: try object.integer("code"), message: try object.string("message"))
    case 8:
      let number = try object.integer("transfer")
      self =
        try object.flag("isEnd")
        ? .transferEnded(number: number, try object.transfer()) : .transferBegan(number: number, url: try object.shortString("url"))
    case 9: self = .note(name: try object.string("note"), text: try object.string("text"))
    case 10: self = .completed(try object.number(), call: try object.integer("call"), result: try object.string("result"))
    case 11: self = .unreadable(try object.number(), why: try object.string("why"))
    case 12: self = .background(try object.backgroundDownload())
    default: throw .invalid
    }
  }
}

/// The members of a frame.
private struct FrameObject {
  private let text: JSONText
  private let object: Range<Int>

  init(_ text: JSONText) {
    self.init(text, text.root)
  }

  private init(_ text: JSONText, _ object: Range<Int>) {
    (self.text, self.object) = (text, object)
  }

  private func value(_ name: String) throws(FrameStream.Fault) -> Range<Int> {
    guard let value = text.value(name, of: object) else { throw .invalid }
    return value
  }

  func string(_ name: String) throws(FrameStream.Fault) -> String {
    guard let bytes = text.string(try value(name)) else { throw .invalid }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The most bytes of a URL or of a type that are kept.
  private static let maximumText = 8 << 10

  func shortString(_ name: String) throws(FrameStream.Fault) -> String {
    String(decoding: try string(name).utf8.prefix(Self.maximumText), as: UTF8.self)
  }

  func integer(_ name: String) throws(FrameStream.Fault) -> Int {
    guard let number = Int(String(decoding: text.source(try value(name)), as: UTF8.self)) else { throw .invalid }
    return number
  }

  func number() throws(FrameStream.Fault) -> UInt64 {
    guard let number = UInt64(exactly: try integer("request")) else { throw .invalid }
    return number
  }

  func flag(_ name: String) throws(FrameStream.Fault) -> Bool {
    switch text.source(try value(name)) {
    case let word where word.elementsEqual("true".utf8): true
    case let word where word.elementsEqual("false".utf8): false
    default: throw .invalid
    }
  }

  func transfer() throws(FrameStream.Fault) -> ExtensionTransfer {
    ExtensionTransfer(
      url: UntrustedText(try shortString("url")), status: min(max(try integer("status"), 0), 999),
      type: UntrustedText(try shortString("type")), bytes: max(try integer("bytes"), 0), code: try integer("code"))
  }

  func backgroundDownload() throws(FrameStream.Fault) -> BackgroundDownload {
    guard let event = BackgroundDownload.Event(rawValue: try string("event")) else { throw .invalid }
    return BackgroundDownload(
      event: event, session: UntrustedText(try string("session")), task: try integer("task"), url: UntrustedText(try shortString("url")))
  }

  func answer() throws(FrameStream.Fault) -> ExtensionAnswer {
    var answer = ExtensionAnswer()
    let changes = try value("changes")
    guard text.isObject(changes) else { throw .invalid }
    for change in memberChanges(of: changes) where change.name != "userInfo" { answer.changes.append(change) }
    if let userInfo = text.value("userInfo", of: changes) { answer.userInfo = memberChanges(of: userInfo) }
    for element in text.elements(of: try value("attachments")).prefix(AnsweredAttachment.maximumCount) {
      let attachment = FrameObject(text, element)
      answer.attachments.append(
        AnsweredAttachment(
          identifier: UntrustedText(try attachment.string("identifier")), path: UntrustedText(try attachment.string("path")),
          type: UntrustedText(try attachment.string("type")), options: try attachment.options()))
    }
    return answer
  }

  /// Returns the changes in an object. Of several with one name, the last counts. None has a line feed.
  private func memberChanges(of object: Range<Int>) -> [MemberChange] {
    var places: [UntrustedText: Int] = [:]
    var changes: [MemberChange] = []
    for member in text.members(of: object) {
      let source = JSONText(Array(text.source(member.value))).compact
      let change = MemberChange(
        UntrustedText(decoding: text.string(member.name) ?? []), source.elementsEqual("null".utf8) ? nil : source)
      if let place = places[change.name] {
        changes[place] = change
      } else {
        places[change.name] = changes.count
        changes.append(change)
      }
    }
    return changes
  }

  private func options() throws(FrameStream.Fault) -> AttachmentOptions {
    let options = FrameObject(text, try value("options"))
    var result = AttachmentOptions()
    if text.value("thumbnailHidden", of: options.object) != nil { result.thumbnailHidden = try options.flag("thumbnailHidden") }
    result.thumbnailTime = options.double("thumbnailTime")
    if let place = text.value("thumbnailClippingRect", of: options.object) {
      let rect = FrameObject(text, place)
      let parts = ["x", "y", "width", "height"].compactMap(rect.double).filter { (0...1).contains($0) }
      guard parts.count == 4 else { throw .invalid }
      result.thumbnailClippingRect = ClippingRect(x: parts[0], y: parts[1], width: parts[2], height: parts[3])
    }
    return result
  }

  private func double(_ name: String) -> Double? {
    guard let value = text.value(name, of: object), let number = Double(String(decoding: text.source(value), as: UTF8.self)),
      number.isFinite, number >= 0
    else { return nil }
    return number
  }
}
