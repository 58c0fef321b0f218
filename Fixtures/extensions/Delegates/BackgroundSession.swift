// Lets a background session download, and takes the file when iOS has started the app again.
import UIKit
import UserNotifications

@main
class AppDelegate: UIResponder, UIApplicationDelegate, URLSessionDownloadDelegate {
  var window: UIWindow?
  var backgroundCompletionHandler: (() -> Void)?
  var isComplete = true

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
    session.dataTask(with: url).cancel()
    var request = URLRequest(url: url)
    request.setValue("image/*", forHTTPHeaderField: "Accept")
    let task = session.downloadTask(with: request)
    task.taskDescription = "picture"
    UserDefaults.standard.set(task.taskIdentifier, forKey: text)
    task.resume()
    let unwanted = session.downloadTask(with: url)
    unwanted.resume()
    unwanted.cancel()
    completionHandler(.newData)
  }

  func application(
    _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String, completionHandler: @escaping () -> Void
  ) {
    backgroundCompletionHandler = completionHandler
    print(session.configuration.identifier ?? "")
  }

  func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
    let (url, response) = (downloadTask.originalRequest?.url?.absoluteString ?? "", downloadTask.response as? HTTPURLResponse)
    let folder = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask)[0]
    let file = folder.appendingPathComponent(UUID().uuidString)
    try? FileManager.default.moveItem(at: location, to: file)
    let size = (try? Data(contentsOf: file))?.count ?? -1
    let isWhole = response.map { $0.statusCode != 200 || Int64(size) == $0.expectedContentLength } ?? false
    let isKnown = UserDefaults.standard.integer(forKey: url) == downloadTask.taskIdentifier
    isComplete = isComplete && isWhole && isKnown && downloadTask.taskDescription == "picture"
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: Error?) {
    isComplete = isComplete && error == nil
  }

  func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
    guard isComplete else { return }
    DispatchQueue.main.async { [self] in
      backgroundCompletionHandler?()
      backgroundCompletionHandler = nil
    }
  }
}
