// The async forms: waits for the events of the session before it returns.
import UIKit

@main
class AppDelegate: UIResponder, UIApplicationDelegate, URLSessionDownloadDelegate {
  var finish: CheckedContinuation<Void, Never>?

  lazy var session: URLSession = URLSession(
    configuration: .background(withIdentifier: "com.example.media"), delegate: self, delegateQueue: .main)

  func application(
    _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
  ) async -> UIBackgroundFetchResult {
    guard let text = userInfo["image"] as? String, let url = URL(string: text) else { return .noData }
    session.downloadTask(with: url).resume()
    return .newData
  }

  func application(_ application: UIApplication, handleEventsForBackgroundURLSession identifier: String) async {
    await withCheckedContinuation { continuation in
      DispatchQueue.main.async {
        self.finish = continuation
        _ = self.session
      }
    }
  }

  func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
    let folder = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask)[0]
    try? FileManager.default.moveItem(at: location, to: folder.appendingPathComponent(UUID().uuidString))
  }

  func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
    finish?.resume()
    finish = nil
  }
}
