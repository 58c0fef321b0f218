/// Parses the keys that Apple defines, one dictionary at a time. The other members then refer to
/// that dictionary.
///
/// Source:
/// https://developer.apple.com/documentation/usernotifications/generating-a-remote-notification
package final class ApsReader {
  package init() {}

  private enum Key: Int, CaseIterable {
    case alert, mutableContent, contentAvailable, badge, sound, category, threadID, mutableContentInCamelCase, mutableContentInSnakeCase
    case contentState, event

    var name: String {
      switch self {
      case .alert: "alert"
      case .mutableContent: "mutable-content"
      case .contentAvailable: "content-available"
      case .badge: "badge"
      case .sound: "sound"
      case .category: "category"
      case .threadID: "thread-id"
      case .mutableContentInCamelCase: "mutableContent"
      case .mutableContentInSnakeCase: "mutable_content"
      case .contentState: "content-state"
      case .event: "event"
      }
    }
  }

  private enum AlertKey: Int, CaseIterable {
    case title, titleLocKey, subtitle, subtitleLocKey, body, locKey

    var name: String {
      switch self {
      case .title: "title"
      case .titleLocKey: "title-loc-key"
      case .subtitle: "subtitle"
      case .subtitleLocKey: "subtitle-loc-key"
      case .body: "body"
      case .locKey: "loc-key"
      }
    }
  }

  private let members = MemberLookup(Key.allCases.map(\.name))
  private let alertMembers = MemberLookup(AlertKey.allCases.map(\.name))
  private let soundMembers = MemberLookup(["name"])

  /// Whether a payload asks for the service extension.
  enum Flag {
    /// `mutable-content` is the number 1 or `true`.
    case set
    /// There is none, or it is switched off.
    case none
    case mistake(FlagMistake)
    /// The push is for a Live Activity, for which no service extension runs.
    case liveActivity

    var isSet: Bool { if case .set = self { true } else { false } }
  }

  /// Whether the payload that was read last asks for the service extension.
  private(set) var flag = Flag.none
  package var isMutable: Bool { flag.isSet }

  /// Whether the payload that was read last is for a Live Activity.
  package var isLiveActivity: Bool { if case .liveActivity = flag { true } else { false } }

  /// What may happen to a Live Activity.
  ///
  /// Source:
  /// https://developer.apple.com/documentation/activitykit/starting-and-updating-live-activities-with-activitykit-push-notifications
  private static let events: [UntrustedText] = ["start", "update", "end"]

  private func readFlag() -> Flag {
    if members[Key.contentState.rawValue]?.isObject == true { return .liveActivity }
    if let event = members[Key.event.rawValue]?.text, Self.events.contains(event) { return .liveActivity }
    if let flag = members[Key.mutableContent.rawValue] {
      if flag.isSet { return .set }
      return flag.isPresent && flag.boolean != false && flag.number != 0 ? .mistake(.value) : .none
    }
    if members[Key.mutableContentInCamelCase.rawValue] != nil { return .mistake(.name(.inCamelCase)) }
    return members[Key.mutableContentInSnakeCase.rawValue] != nil ? .mistake(.name(.inSnakeCase)) : .none
  }

  /// Parses a payload's `aps` and returns its kind of push.
  package func read(_ aps: JSONElement?) -> PushKind {
    members.find(in: aps)
    alertMembers.find(in: members[Key.alert.rawValue])
    flag = readFlag()
    if hasAlertText { return .alert }
    if members[Key.badge.rawValue]?.number != nil || soundName != nil { return .soundOrBadge }
    return members[Key.contentAvailable.rawValue]?.isSet == true ? .silent : .nothing
  }

  /// Returns the content that is shown.
  package func content() -> NotificationContent {
    let plain = members[Key.alert.rawValue]?.text?.string
    return NotificationContent(
      title: text(.title, orKey: .titleLocKey),
      subtitle: text(.subtitle, orKey: .subtitleLocKey),
      body: plain ?? text(.body, orKey: .locKey),
      badge: members[Key.badge.rawValue]?.integer,
      sound: soundName,
      categoryIdentifier: members[Key.category.rawValue]?.text?.string ?? "",
      threadIdentifier: members[Key.threadID.rawValue]?.text?.string ?? "")
  }

  private var hasAlertText: Bool {
    members[Key.alert.rawValue]?.isText == true || AlertKey.allCases.contains { alertMembers[$0.rawValue]?.isText == true }
  }

  private func text(_ literal: AlertKey, orKey key: AlertKey) -> String {
    (alertMembers[literal.rawValue]?.text ?? alertMembers[key.rawValue]?.text)?.string ?? ""
  }

  /// The file name of the sound: the value itself, or `name` in a dictionary.
  private var soundName: String? {
    guard let sound = members[Key.sound.rawValue] else { return nil }
    if let name = sound.text { return name.string }
    soundMembers.find(in: sound)
    return soundMembers[0]?.text?.string
  }
}

/// Why `mutable-content` does not count although something like it is in `aps`.
package enum FlagMistake: Hashable, Sendable {
  /// The value is neither the number 1 nor a value that switches the flag off.
  case value
  /// The name is not Apple's.
  case name(Name)

  /// The names that people write instead.
  package enum Name: String, Sendable {
    case inCamelCase = "mutableContent"
    case inSnakeCase = "mutable_content"
  }

  var text: String {
    switch self {
    case .value: "mutable-content is not the number 1, so no service extension runs; write \"mutable-content\": 1, without quotation marks"
    case .name(let name): "Apple does not know “\(name.rawValue)”, so no service extension runs; write \"mutable-content\": 1"
    }
  }
}

/// The effect of a payload on arrival, as its `aps` defines it. Only ``alert`` can wake a service
/// extension.
///
/// Source:
/// https://developer.apple.com/documentation/usernotifications/modifying-content-in-newly-delivered-notifications
/// ("alerts … only the playing of a sound or the badging of an icon") and
/// https://developer.apple.com/documentation/usernotifications/pushing-background-updates-to-your-app
public enum PushKind: Hashable, Sendable, CaseIterable {
  /// Shows an alert: `alert` is a non-empty string, or a dictionary with a title, a subtitle, a
  /// body or one of their loc-keys.
  case alert
  /// Plays a sound or badges the icon, and shows no alert.
  case soundOrBadge
  /// Wakes the app (`content-available`) and shows nothing.
  case silent
  /// Has no effect that a user or the app would notice, or is not a push at all.
  case nothing
}
