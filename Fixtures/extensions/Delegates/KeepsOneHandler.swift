// Keeps one completion handler, so that a push replaces that of the one before.
import UIKit

@main
class AppDelegate: UIResponder, UIApplicationDelegate {
  var (url, completionHandler): (URL?, ((UIBackgroundFetchResult) -> Void)?)

  func application(
    _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
    fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
  ) {
    guard let text = userInfo["image"] as? String, let url = URL(string: text) else { return completionHandler(.noData) }
    (self.url, self.completionHandler) = (url, completionHandler)
    URLSession.shared.dataTask(with: url) { _, _, _ in
      DispatchQueue.main.async {
        if url == self.url { self.completionHandler?(.newData) }
      }
    }.resume()
  }
}
