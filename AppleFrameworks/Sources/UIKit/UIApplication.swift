import CoreGraphics
import Groundwork

open class UIResponder: NSObject {
  public override init() {
    super.init()
  }
}

open class UIView: UIResponder {
  open var frame: CGRect

  public init(frame: CGRect) {
    self.frame = frame
    super.init()
  }
}

open class UIViewController: UIResponder {}

open class UIWindow: UIView {
  open var rootViewController: UIViewController?

  /// Does nothing: the app runs in the background.
  open func makeKeyAndVisible() {}
}

public enum UIBackgroundFetchResult: UInt, Sendable {
  case newData = 0
  case noData = 1
  case failed = 2
}

public enum UIBackgroundRefreshStatus: Int, Sendable {
  case restricted = 0
  case denied = 1
  case available = 2
}

public struct UIBackgroundTaskIdentifier: RawRepresentable, Hashable, Sendable {
  public let rawValue: Int

  public init(rawValue: Int) {
    self.rawValue = rawValue
  }

  public static let invalid = UIBackgroundTaskIdentifier(rawValue: 0)
}

/// The app, which runs in the background.
open class UIApplication: UIResponder, @unchecked Sendable {
  public struct LaunchOptionsKey: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    public static let remoteNotification = LaunchOptionsKey(rawValue: "UIApplicationLaunchOptionsRemoteNotificationKey")
    public static let url = LaunchOptionsKey(rawValue: "UIApplicationLaunchOptionsURLKey")
    public static let sourceApplication = LaunchOptionsKey(rawValue: "UIApplicationLaunchOptionsSourceApplicationKey")
    public static let annotation = LaunchOptionsKey(rawValue: "UIApplicationLaunchOptionsAnnotationKey")
    public static let localNotification = LaunchOptionsKey(rawValue: "UIApplicationLaunchOptionsLocalNotificationKey")
    public static let location = LaunchOptionsKey(rawValue: "UIApplicationLaunchOptionsLocationKey")
    public static let shortcutItem = LaunchOptionsKey(rawValue: "UIApplicationLaunchOptionsShortcutItemKey")
    public static let userActivityDictionary = LaunchOptionsKey(rawValue: "UIApplicationLaunchOptionsUserActivityDictionaryKey")
    public static let userActivityType = LaunchOptionsKey(rawValue: "UIApplicationLaunchOptionsUserActivityTypeKey")
    public static let bluetoothCentrals = LaunchOptionsKey(rawValue: "UIApplicationLaunchOptionsBluetoothCentralsKey")
    public static let bluetoothPeripherals = LaunchOptionsKey(rawValue: "UIApplicationLaunchOptionsBluetoothPeripheralsKey")
  }

  public struct OpenURLOptionsKey: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    public static let sourceApplication = OpenURLOptionsKey(rawValue: "UIApplicationOpenURLOptionsSourceApplicationKey")
    public static let annotation = OpenURLOptionsKey(rawValue: "UIApplicationOpenURLOptionsAnnotationKey")
    public static let openInPlace = OpenURLOptionsKey(rawValue: "UIApplicationOpenURLOptionsOpenInPlaceKey")
  }

  public enum State: Int, Sendable {
    case active = 0
    case inactive = 1
    case background = 2
  }

  public static let shared = UIApplication()
  public static let backgroundFetchIntervalMinimum: TimeInterval = 0
  public static let didBecomeActiveNotification = Notification.Name("UIApplicationDidBecomeActiveNotification")
  public static let willResignActiveNotification = Notification.Name("UIApplicationWillResignActiveNotification")
  public static let didEnterBackgroundNotification = Notification.Name("UIApplicationDidEnterBackgroundNotification")
  public static let willEnterForegroundNotification = Notification.Name("UIApplicationWillEnterForegroundNotification")
  public static let willTerminateNotification = Notification.Name("UIApplicationWillTerminateNotification")
  public static let backgroundFetchIntervalNever: TimeInterval = .greatestFiniteMagnitude

  open weak var delegate: (any UIApplicationDelegate)?
  open var applicationIconBadgeNumber = 0
  open var applicationState: State { .background }
  open var backgroundRefreshStatus: UIBackgroundRefreshStatus { .available }
  open var isRegisteredForRemoteNotifications: Bool { true }
  open var isProtectedDataAvailable: Bool { true }
  open var isIdleTimerDisabled = false
  open var windows: [UIWindow] { [] }
  open var keyWindow: UIWindow? { nil }
  open var connectedScenes: Set<UIScene> { [] }
  open var openSessions: Set<UISceneSession> { [] }
  private let lock = NSLock()
  private var tasks = 0
  private var awake = Date()

  /// iOS gives an app about 30 seconds for a silent push.
  open var backgroundTimeRemaining: TimeInterval {
    lock.withLock { max(0, 30 + awake.timeIntervalSinceNow) }
  }

  /// Begins the time that iOS gives the app.
  package func wake() {
    lock.withLock { awake = Date() }
  }

  open func registerForRemoteNotifications() {}
  open func unregisterForRemoteNotifications() {}
  open func setMinimumBackgroundFetchInterval(_ minimumBackgroundFetchInterval: TimeInterval) {}

  open func beginBackgroundTask(
    withName taskName: String?, expirationHandler handler: (@Sendable () -> Void)? = nil
  ) -> UIBackgroundTaskIdentifier {
    lock.withLock {
      tasks += 1
      return UIBackgroundTaskIdentifier(rawValue: tasks)
    }
  }

  open func beginBackgroundTask(expirationHandler handler: (@Sendable () -> Void)? = nil) -> UIBackgroundTaskIdentifier {
    beginBackgroundTask(withName: nil, expirationHandler: handler)
  }

  open func endBackgroundTask(_ identifier: UIBackgroundTaskIdentifier) {}
  open func canOpenURL(_ url: URL) -> Bool { false }
}

/// The methods of an app's delegate that run without a screen. All of them are optional.
public protocol UIApplicationDelegate: NSObjectProtocol {
  func application(_ application: UIApplication, willFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?)
    -> Bool
  func application(_ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?)
    -> Bool
  func application(_ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data)
  func application(_ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error)
  func application(
    _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
    fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void)
  func application(_ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]) async -> UIBackgroundFetchResult
  func application(
    _ application: UIApplication, performFetchWithCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void)
  func application(
    _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String, completionHandler: @escaping () -> Void)
  func application(_ application: UIApplication, handleEventsForBackgroundURLSession identifier: String) async
  func application(
    _ application: UIApplication, configurationForConnecting connectingSceneSession: UISceneSession, options: UIScene.ConnectionOptions
  ) -> UISceneConfiguration
  func application(_ application: UIApplication, didDiscardSceneSessions sceneSessions: Set<UISceneSession>)
  func applicationDidBecomeActive(_ application: UIApplication)
  func applicationWillResignActive(_ application: UIApplication)
  func applicationDidEnterBackground(_ application: UIApplication)
  func applicationWillEnterForeground(_ application: UIApplication)
  func applicationWillTerminate(_ application: UIApplication)
}

extension UIApplicationDelegate {
  public func application(
    _ application: UIApplication, willFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
  ) -> Bool { true }

  public func application(
    _ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
  ) -> Bool { true }

  public func application(_ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data) {}
  public func application(_ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error) {}

  /// Calls the async method, which the delegate may have instead.
  public func application(
    _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
    fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
  ) {
    nonisolated(unsafe) let (delegate, info, handler) = (self, userInfo, completionHandler)
    Task { handler(await delegate.application(application, didReceiveRemoteNotification: info)) }
  }

  public func application(
    _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
  ) async -> UIBackgroundFetchResult {
    HostLink.note(.accepted, "the delegate has no method for silent pushes")
    return .noData
  }

  public func application(
    _ application: UIApplication, performFetchWithCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
  ) {
    completionHandler(.noData)
  }

  public func application(
    _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String, completionHandler: @escaping () -> Void
  ) {
    nonisolated(unsafe) let (delegate, handler) = (self, completionHandler)
    Task {
      await delegate.application(application, handleEventsForBackgroundURLSession: identifier)
      await MainActor.run { handler() }
    }
  }

  /// Waits for the session if the app creates it at its launch.
  public func application(_ application: UIApplication, handleEventsForBackgroundURLSession identifier: String) async {
    await BackgroundSessions.shared.events(of: identifier)
  }

  public func application(
    _ application: UIApplication, configurationForConnecting connectingSceneSession: UISceneSession, options: UIScene.ConnectionOptions
  ) -> UISceneConfiguration {
    UISceneConfiguration(name: nil, sessionRole: connectingSceneSession.role)
  }

  public func application(_ application: UIApplication, didDiscardSceneSessions sceneSessions: Set<UISceneSession>) {}

  public func applicationDidBecomeActive(_ application: UIApplication) {}
  public func applicationWillResignActive(_ application: UIApplication) {}
  public func applicationDidEnterBackground(_ application: UIApplication) {}
  public func applicationWillEnterForeground(_ application: UIApplication) {}
  public func applicationWillTerminate(_ application: UIApplication) {}
}
