// Fetches, and completes once, with what came of it.
import UIKit
import UserNotifications

@main
class AppDelegate: UIResponder, UIApplicationDelegate {
  var window: UIWindow?

  func application(
    _ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
  ) -> Bool {
    application.registerForRemoteNotifications()
    return true
  }


  func application(
    _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
    fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
  ) {
    guard let text = userInfo["image"] as? String, let url = URL(string: text) else { return completionHandler(.noData) }
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = 0.8
    let session = URLSession(configuration: configuration)
    session.dataTask(with: url) { data, response, _ in
      session.finishTasksAndInvalidate()
      guard let data = data, (response as? HTTPURLResponse)?.statusCode == 200 else { return completionHandler(.failed) }
      completionHandler(data.isEmpty ? .noData : .newData)
    }.resume()
  }
}
