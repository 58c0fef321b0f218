// Creates the session again, and never calls the completion handler.
import UIKit
import UserNotifications

@main
class AppDelegate: UIResponder, UIApplicationDelegate, URLSessionDownloadDelegate {
  var backgroundCompletionHandler: (() -> Void)?

  lazy var session: URLSession = {
    let configuration = URLSessionConfiguration.background(withIdentifier: "com.example.media")
    configuration.sessionSendsLaunchEvents = true
    configuration.isDiscretionary = false
    return URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
  }()

  func application(
    _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
    fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
  ) {
    guard let text = userInfo["image"] as? String, let url = URL(string: text) else { return completionHandler(.noData) }
    session.downloadTask(with: url).resume()
    completionHandler(.newData)
  }

  func application(
    _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String, completionHandler: @escaping () -> Void
  ) {
    backgroundCompletionHandler = completionHandler
    print(session.configuration.identifier ?? "")
  }

  func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
    let folder = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask)[0]
    try? FileManager.default.moveItem(at: location, to: folder.appendingPathComponent(UUID().uuidString))
  }
}
