import Groundwork

public enum UNAuthorizationStatus: Int, Sendable {
  case notDetermined = 0
  case denied = 1
  case authorized = 2
  case provisional = 3
  case ephemeral = 4
}

public enum UNNotificationSetting: Int, Sendable {
  case notSupported = 0
  case disabled = 1
  case enabled = 2
}

public enum UNAlertStyle: Int, Sendable {
  case none = 0
  case banner = 1
  case alert = 2
}

public enum UNShowPreviewsSetting: Int, Sendable {
  case always = 0
  case whenAuthenticated = 1
  case never = 2
}

public struct UNAuthorizationOptions: OptionSet, Sendable {
  public let rawValue: UInt

  public init(rawValue: UInt) {
    self.rawValue = rawValue
  }

  public static let badge = UNAuthorizationOptions(rawValue: 1 << 0)
  public static let sound = UNAuthorizationOptions(rawValue: 1 << 1)
  public static let alert = UNAuthorizationOptions(rawValue: 1 << 2)
  public static let carPlay = UNAuthorizationOptions(rawValue: 1 << 3)
  public static let criticalAlert = UNAuthorizationOptions(rawValue: 1 << 4)
  public static let providesAppNotificationSettings = UNAuthorizationOptions(rawValue: 1 << 5)
  public static let provisional = UNAuthorizationOptions(rawValue: 1 << 6)
  public static let announcement = UNAuthorizationOptions(rawValue: 1 << 7)
  public static let timeSensitive = UNAuthorizationOptions(rawValue: 1 << 8)
}

public struct UNNotificationPresentationOptions: OptionSet, Sendable {
  public let rawValue: UInt

  public init(rawValue: UInt) {
    self.rawValue = rawValue
  }

  public static let badge = UNNotificationPresentationOptions(rawValue: 1 << 0)
  public static let sound = UNNotificationPresentationOptions(rawValue: 1 << 1)
  public static let alert = UNNotificationPresentationOptions(rawValue: 1 << 2)
  public static let list = UNNotificationPresentationOptions(rawValue: 1 << 3)
  public static let banner = UNNotificationPresentationOptions(rawValue: 1 << 4)
}

/// What the user has allowed. Here, the user has allowed everything.
open class UNNotificationSettings: NSObject, NSCopying, @unchecked Sendable {
  public let authorizationStatus = UNAuthorizationStatus.authorized
  public let soundSetting = UNNotificationSetting.enabled
  public let badgeSetting = UNNotificationSetting.enabled
  public let alertSetting = UNNotificationSetting.enabled
  public let notificationCenterSetting = UNNotificationSetting.enabled
  public let lockScreenSetting = UNNotificationSetting.enabled
  public let carPlaySetting = UNNotificationSetting.enabled
  public let alertStyle = UNAlertStyle.banner
  public let showPreviewsSetting = UNShowPreviewsSetting.always
  public let criticalAlertSetting = UNNotificationSetting.enabled
  public let providesAppNotificationSettings = false
  public let announcementSetting = UNNotificationSetting.enabled
  public let timeSensitiveSetting = UNNotificationSetting.enabled
  public let scheduledDeliverySetting = UNNotificationSetting.disabled
  public let directMessagesSetting = UNNotificationSetting.enabled

  open func copy(with zone: NSZone? = nil) -> Any {
    self
  }
}
