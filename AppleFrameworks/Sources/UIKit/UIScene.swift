import Groundwork
import UserNotifications

// The names of scenes, for delegates that have them. Nothing of an app in the background is shown, so no scene connects.

open class UISceneSession: NSObject, @unchecked Sendable {
  public struct Role: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    public static let windowApplication = Role(rawValue: "UIWindowSceneSessionRoleApplication")
  }

  open var role: Role { .windowApplication }
  open var persistentIdentifier: String { "" }
}

open class UISceneConfiguration: NSObject {
  open private(set) var name: String?
  public let role: UISceneSession.Role
  open var delegateClass: AnyClass?
  open var sceneClass: AnyClass?

  public init(name: String?, sessionRole: UISceneSession.Role) {
    (self.name, role) = (name, sessionRole)
    super.init()
  }
}

open class UIScene: UIResponder, @unchecked Sendable {
  open class ConnectionOptions: NSObject {
    open var notificationResponse: UNNotificationResponse? { nil }
  }

  public let session: UISceneSession

  public init(session: UISceneSession, connectionOptions: UIScene.ConnectionOptions) {
    self.session = session
    super.init()
  }
}

open class UIWindowScene: UIScene, @unchecked Sendable {
  open var windows: [UIWindow] { [] }
}

/// A delegate of scenes. None of its methods is called.
public protocol UISceneDelegate: NSObjectProtocol {}

public protocol UIWindowSceneDelegate: UISceneDelegate {
  var window: UIWindow? { get set }
}
