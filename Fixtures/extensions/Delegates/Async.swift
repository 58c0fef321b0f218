// The async form.
import UIKit
import UserNotifications

@UIApplicationMain
class AppDelegate: UIResponder, UIApplicationDelegate {
  var window: UIWindow?

  func application(
    _ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
  ) -> Bool {
    application.registerForRemoteNotifications()
    return true
  }


  func application(_ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]) async -> UIBackgroundFetchResult {
    guard let text = userInfo["image"] as? String, let url = URL(string: text) else { return .noData }
    guard let (_, response) = try? await URLSession.shared.data(from: url) else { return .failed }
    return (response as? HTTPURLResponse)?.statusCode == 200 ? .newData : .failed
  }
}
