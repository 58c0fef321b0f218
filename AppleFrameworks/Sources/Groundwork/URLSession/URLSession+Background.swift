import Foundation
import FoundationNetworking
import OriginalFoundation

// On a phone, a process of the system downloads for background sessions, also while the app does not
// run (https://developer.apple.com/documentation/foundation/downloading-files-in-the-background).

extension URLSessionConfiguration {
  /// Returns the configuration of a background session. An app's downloads in such a session go on
  /// after the app has ended. Those of an extension run in its process.
  public class func background(withIdentifier identifier: String) -> URLSessionConfiguration {
    let configuration = URLSessionConfiguration.default
    guard BackgroundSessions.isApp else {
      HostLink.note(.accepted, "a background URLSession (\(identifier)) runs in the process")
      return configuration
    }
    configuration.identifier = identifier
    return configuration
  }
}

/// Foundation for Linux lacks the method for background sessions.
public protocol URLSessionDelegate: FoundationNetworking.URLSessionDelegate {
  func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession)
}

extension URLSessionDelegate {
  public func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {}
}

public protocol URLSessionTaskDelegate: URLSessionDelegate, FoundationNetworking.URLSessionTaskDelegate {}
public protocol URLSessionDataDelegate: URLSessionTaskDelegate, FoundationNetworking.URLSessionDataDelegate {}
public protocol URLSessionDownloadDelegate: URLSessionTaskDelegate, FoundationNetworking.URLSessionDownloadDelegate {}

extension URLSession {
  public convenience init(configuration: URLSessionConfiguration) {
    self.init(configuration: configuration, delegate: nil, delegateQueue: nil)
  }

  /// Creates a session. The finished downloads of a background session with this identifier are
  /// passed to its delegate.
  public convenience init(
    configuration: URLSessionConfiguration, delegate: (any FoundationNetworking.URLSessionDelegate)?, delegateQueue queue: OperationQueue?
  ) {
    self.init(original: configuration, delegate, queue)
    if let identifier = configuration.identifier { BackgroundSessions.shared.add(self, identifier) }
  }

  public func downloadTask(with request: URLRequest) -> URLSessionDownloadTask {
    let task = originalDownloadTask(self, request)
    BackgroundSessions.shared.keep(task, of: self)
    return task
  }

  public func downloadTask(with url: URL) -> URLSessionDownloadTask {
    downloadTask(with: URLRequest(url: url))
  }
}

extension URLSessionTask {
  /// Starts the task. A download of a background session is recorded.
  public func resume() {
    if !BackgroundSessions.shared.start(self) { originalResume(self) }
  }

  public func cancel() {
    BackgroundSessions.shared.cancel(self)
    originalCancel(self)
  }
}
