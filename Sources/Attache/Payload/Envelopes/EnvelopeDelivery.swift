extension Envelope {
  /// Reads the delivery information of an envelope.
  ///
  /// - Parameters:
  ///   - objects: the objects to search; the first that has a value is used.
  ///   - members: a cache of the line's members, shared by its envelopes.
  mutating func readDelivery(_ objects: [Range<Int>], _ members: inout DeliveryMembers) {
    let text = members.text
    token = members.first(DeliveryMembers.token, in: objects).flatMap { Self.single($0, text) }
    priority = members.first(DeliveryMembers.priority, in: objects).flatMap { Self.priority(Self.plain($0, text)) }
    expiration = members.first(DeliveryMembers.expiration, in: objects).flatMap { Int(Self.plain($0, text).string) }
    pushType = members.first(DeliveryMembers.pushType, in: objects).map { Self.plain($0, text) }
    // In all other forms, `topic` is a topic of the service itself, to which devices subscribe.
    let topics = form == .gorush ? DeliveryMembers.topic + DeliveryMembers.gorushTopic : DeliveryMembers.topic
    topic = members.first(topics, in: objects).map { Self.plain($0, text) }
    collapseID = members.first(DeliveryMembers.collapseID, in: objects).map { Self.plain($0, text) }
    time = members.first(DeliveryMembers.time, in: objects).flatMap { Self.seconds(Self.plain($0, text).string) }
  }

  /// Returns a string, or the only element of an array if that is a string.
  private static func single(_ value: Range<Int>, _ text: JSONText) -> UntrustedText? {
    let elements = text.elements(of: value)
    let one = elements.count == 1 ? elements[0] : value
    return text.isText(one) ? plain(one, text) : nil
  }

  /// Returns the content of a string, or the source of a number.
  private static func plain(_ value: Range<Int>, _ text: JSONText) -> UntrustedText {
    UntrustedText(decoding: text.string(value) ?? Array(text.source(value)))
  }

  /// Returns the header's number, or the number for a word of gorush or Expo.
  private static func priority(_ word: UntrustedText) -> Int? {
    if word == "high" || word == "default" { return 10 }
    return word == "normal" ? 5 : Int(word.string)
  }

  /// Parses a number of seconds or milliseconds, or a date like 2026-11-21T10:00:00.5+01:00 (RFC
  /// 3339). Returns seconds since 1970.
  static func seconds(_ text: String) -> Double? {
    if let number = Double(text) {
      guard number.isFinite else { return nil }
      return number > 100_000_000_000 ? number / 1000 : number
    }
    var rest = Array(text.utf8)[...]
    func number(_ digits: Int) -> Int64? {
      guard rest.count >= digits, let value = Int64(String(decoding: rest.prefix(digits), as: UTF8.self)) else { return nil }
      rest = rest.dropFirst(digits)
      return value
    }
    func skip(_ bytes: String) -> Bool {
      guard let first = rest.first, bytes.utf8.contains(first) else { return false }
      rest = rest.dropFirst()
      return true
    }
    guard let year = number(4), skip("-"), let month = number(2), skip("-"), let day = number(2), 1...12 ~= month, skip("Tt "),
      let hour = number(2), skip(":"), let minute = number(2), skip(":"), let second = number(2)
    else { return nil }
    let start = HTTPDate.days(year: year, month: month, day: day) * 86_400 + hour * 3_600 + minute * 60 + second
    var seconds = Double(start)
    if skip(".") {
      let digits = rest.prefix { 0x30...0x39 ~= $0 }
      seconds += Double("0." + String(decoding: digits, as: UTF8.self)) ?? 0
      rest = rest.dropFirst(digits.count)
    }
    while skip(" GMTUZz") {}
    guard let sign = rest.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else { return seconds }
    rest = rest.dropFirst()
    guard let hours = number(2) else { return seconds }
    _ = skip(":")
    let offset = Double(hours * 3_600 + (number(2) ?? 0) * 60)
    return sign == UInt8(ascii: "+") ? seconds - offset : seconds + offset
  }
}

/// The members of a line's objects that concern delivery. Each object is read once, even if many
/// notifications share it.
struct DeliveryMembers {
  static let token = names(
    "token", "device_token", "deviceToken", "to", "tokens", "TargetArn", "include_subscription_ids", "include_player_ids",
    "include_ios_tokens", "device")
  static let priority = names("apns-priority", "apns_priority", "priority")
  static let expiration = names("apns-expiration", "apns_expiration", "expiration")
  static let pushType = names("apns-push-type", "apns_push_type", "push_type", "apns_push_type_override")
  static let time = names(
    "time", "timestamp", "Timestamp", "sent_at", "sentAt", "send_after", "created_at", "createdAt", "date", "ts")
  static let topic = names("apns-topic", "apns_topic")
  static let gorushTopic = names("topic")
  static let collapseID = names("apns-collapse-id", "apns_collapse_id", "collapse_id")
  private static let all = Set(token + priority + expiration + pushType + time + topic + gorushTopic + collapseID)

  let text: JSONText
  /// For each object, the members whose value is not null.
  private var objects: [Range<Int>: [[UInt8]: Range<Int>]] = [:]

  init(_ text: JSONText) {
    self.text = text
  }

  /// Returns the first value that one of the objects has under one of the names.
  mutating func first(_ names: [[UInt8]], in objects: [Range<Int>]) -> Range<Int>? {
    for object in objects {
      let members = members(of: object)
      for name in names {
        if let value = members[name] { return value }
      }
    }
    return nil
  }

  /// Returns the members of an object. If several have the same name, the last one counts.
  private mutating func members(of object: Range<Int>) -> [[UInt8]: Range<Int>] {
    if let known = objects[object] { return known }
    var found: [[UInt8]: Range<Int>] = [:]
    for member in text.members(of: object) {
      let name = text.identity(of: member)
      guard Self.all.contains(name) else { continue }
      found[name] = text.source(member.value).elementsEqual("null".utf8) ? nil : member.value
    }
    objects[object] = found
    return found
  }

  private static func names(_ names: String...) -> [[UInt8]] {
    names.map { Array($0.utf8) }
  }
}
