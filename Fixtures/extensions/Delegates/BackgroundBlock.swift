// Passes a completion handler to a task of a background session.
import UIKit

@main
class AppDelegate: UIResponder, UIApplicationDelegate {
  func application(
    _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
    fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
  ) {
    guard let text = userInfo["image"] as? String, let url = URL(string: text) else { return completionHandler(.noData) }
    let session = URLSession(configuration: .background(withIdentifier: "com.example.media"))
    session.downloadTask(with: url) { file, _, _ in completionHandler(file == nil ? .failed : .newData) }.resume()
  }
}
