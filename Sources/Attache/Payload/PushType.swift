/// A push type that Apple documents.
///
/// Source:
/// https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns
package enum PushType: String, CaseIterable, Sendable {
  case alert, background, location, voip, complication, fileprovider, mdm, liveactivity, pushtotalk, widgets, controls

  /// What the topic of such a push has behind the app's bundle identifier.
  package var topicSuffix: String {
    switch self {
    case .alert, .background: ""
    // The topic of a device management server is in its certificate.
    case .mdm: ""
    case .location: ".location-query"
    case .voip: ".voip"
    case .complication: ".complication"
    case .fileprovider: ".pushkit.fileprovider"
    case .liveactivity: ".push-type.liveactivity"
    case .pushtotalk: ".voip-ptt"
    case .widgets: ".push-type.widgets"
    case .controls: ".push-type.controls"
    }
  }

  /// Returns the topic of such a push.
  ///
  /// - Parameter topic: a bundle identifier, or a topic that has its suffix.
  /// - Returns: nil if the topic has the suffix of another type.
  package func topic(_ topic: String) -> String? {
    guard !topicSuffix.isEmpty, !topic.utf8.hasSuffix(topicSuffix) else { return topic }
    return Self.allCases.contains { $0.isSuffixUnmistakable && topic.utf8.hasSuffix($0.topicSuffix) } ? nil : topic + topicSuffix
  }

  /// Whether no bundle identifier ends with the suffix. One may end with `.voip` or `.location-query`.
  private var isSuffixUnmistakable: Bool {
    switch self {
    case .liveactivity, .widgets, .controls, .pushtotalk, .fileprovider: true
    case .alert, .background, .mdm, .location, .voip, .complication: false
    }
  }
}

/// What a payload tells of its push type.
package struct PushTraits: Hashable, Sendable {
  package var kind: PushKind
  /// Whether the payload is for a Live Activity (``ApsReader/isLiveActivity``).
  package var isLiveActivity: Bool
  /// Whether the payload is for the device's management: it has the member `mdm`, and no `aps`.
  package var isDeviceManagement: Bool

  package init(_ kind: PushKind, isLiveActivity: Bool = false, isDeviceManagement: Bool = false) {
    (self.kind, self.isLiveActivity, self.isDeviceManagement) = (kind, isLiveActivity, isDeviceManagement)
  }

  /// Whether only one push type can have the payload.
  package var isUnmistakable: Bool { isLiveActivity || isDeviceManagement }

  /// The push type that follows from the payload.
  package var usualType: PushType {
    if isLiveActivity { return .liveactivity }
    if isDeviceManagement { return .mdm }
    return kind == .silent ? .background : .alert
  }

  /// Why a push of this type cannot have the payload; nil if it can.
  package func conflict(with type: PushType) -> String? {
    switch type {
    case .liveactivity:
      isLiveActivity ? nil : "push type liveactivity needs aps.event and aps.content-state, which the payload does not have"
    case .mdm: isDeviceManagement ? nil : "push type mdm needs the member mdm in the place of aps, which the payload does not have"
    case _ where isLiveActivity:
      "the payload is for a Live Activity (aps.event, aps.content-state), but its push type is \(type); give push type liveactivity"
    case _ where isDeviceManagement: "the payload is for the device's management (mdm), but its push type is \(type); give push type mdm"
    case .background where kind == .alert: "a push of type background must show no alert, but the payload has one; give push type alert"
    default: nil
    }
  }
}

extension String.UTF8View {
  fileprivate func hasSuffix(_ text: String) -> Bool { suffix(text.utf8.count).elementsEqual(text.utf8) }
}
