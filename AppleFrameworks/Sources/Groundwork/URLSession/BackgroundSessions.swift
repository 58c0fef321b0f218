import Foundation
import FoundationNetworking
import OriginalFoundation

/// The background sessions of an app, and their downloads. A download that the app starts is written
/// down in its home, and runs when the host starts the app again.
package final class BackgroundSessions: @unchecked Sendable {
  /// A download that the app has started.
  private struct Download: Codable {
    var session: String
    var task: Int
    var url: URL
    var method: String
    var headers: [String: String]
    var body: Data?
    var description: String?

    /// Tells the host what happened to the download.
    func report(_ event: Event) {
      HostLink.send(.background, ["session": session, "event": event.rawValue, "task": task, "url": url.absoluteString])
    }
  }

  /// What happened to a download or, for `created`, to its session.
  private enum Event: String {
    case started, cancelled, created, delivered
  }

  /// A download that is over.
  private struct Ended {
    var download: Download
    var task: URLSessionDownloadTask
    var result: Result<URL, any Error>
  }

  private struct State {
    var sessions: [String: URLSession] = [:]
    /// The download tasks of background sessions, each with its session's identifier.
    var tasks: [ObjectIdentifier: (task: URLSessionDownloadTask, session: String)] = [:]
    /// What no delegate has received yet, by the sessions' identifiers.
    var ended: [String: [Ended]] = [:]
    /// The sessions of whose events the app was told.
    var released: Set<String> = []
    /// The sessions whose delegates have received everything.
    var finished: Set<String> = []
    var waiters: [String: [@Sendable () -> Void]] = [:]
  }

  package static let shared = BackgroundSessions()
  private static let file = PhoneFolders.home.appendingPathComponent("Library/BackgroundDownloads.json")
  /// A task with a higher number gets another one when the app is started again.
  private static let highestTask = 1_000

  /// Whether this process is an app, whose background sessions outlive it. Set before any other code runs.
  package nonisolated(unsafe) static var isApp = false

  private let lock = NSLock()
  private var state = State()

  // MARK: While the app runs

  /// Remembers a new task if its session is a background session.
  func keep(_ task: URLSessionDownloadTask, of session: URLSession) {
    guard let identifier = session.configuration.identifier else { return }
    lock.withLock { state.tasks[ObjectIdentifier(task)] = (task, identifier) }
  }

  /// Ends the app as iOS does if the session is a background session.
  func refuseHandler(of session: URLSession) {
    guard session.configuration.identifier != nil else { return }
    fatalError("NSGenericException: Completion handler blocks are not supported in background sessions. Use a delegate instead.")
  }

  /// Writes a download down if the task is one of a background session.
  ///
  /// - Returns: false for any other task.
  func start(_ task: URLSessionTask) -> Bool {
    lock.withLock {
      guard let (_, identifier) = state.tasks[ObjectIdentifier(task)], let request = task.originalRequest, let url = request.url else {
        return false
      }
      var headers = state.sessions[identifier]?.configuration.httpAdditionalHeaders as? [String: String] ?? [:]
      headers.merge(request.allHTTPHeaderFields ?? [:]) { _, new in new }
      let download = Download(
        session: identifier, task: task.taskIdentifier, url: url, method: request.httpMethod ?? "GET", headers: headers,
        body: request.httpBody, description: task.taskDescription)
      Self.change { downloads in
        downloads.removeAll { ($0.session, $0.task) == (identifier, download.task) }
        downloads.append(download)
      }
      download.report(.started)
      return true
    }
  }

  /// Forgets the download of a task that is cancelled.
  func cancel(_ task: URLSessionTask) {
    lock.withLock {
      guard let (_, identifier) = state.tasks.removeValue(forKey: ObjectIdentifier(task)) else { return }
      Self.change { downloads in
        for download in downloads where (download.session, download.task) == (identifier, task.taskIdentifier) {
          download.report(.cancelled)
        }
        downloads.removeAll { ($0.session, $0.task) == (identifier, task.taskIdentifier) }
      }
    }
  }

  private static func change(_ body: (inout [Download]) -> Void) {
    var downloads = read()
    body(&downloads)
    try? JSONEncoder().encode(downloads).write(to: file, options: .atomic)
  }

  private static func read() -> [Download] {
    (try? JSONDecoder().decode([Download].self, from: Data(contentsOf: file))) ?? []
  }

  // MARK: After the app was started again

  /// Downloads what a session was asked for before the app ended.
  ///
  /// - Parameter done: called when all of it is over.
  package func download(_ identifier: String, done: @escaping @Sendable () -> Void) {
    let session = URLSession(configuration: .default)
    let group = DispatchGroup()
    for download in Self.read() where download.session == identifier {
      var request = URLRequest(url: download.url)
      (request.httpMethod, request.allHTTPHeaderFields, request.httpBody) = (download.method, download.headers, download.body)
      group.enter()
      let ended = TaskBox()
      repeat {
        ended.task = originalDownloadTask(session, request) { [self] file, _, error in
          end(download, ended.task, file, error)
          group.leave()
        }
        // The app knows its downloads by the numbers of their tasks.
      } while ended.task.map { $0.taskIdentifier < min(download.task, Self.highestTask) } ?? false
      ended.task?.taskDescription = download.description
      if let task = ended.task { originalResume(task) }
    }
    group.notify(queue: .global()) {
      session.finishTasksAndInvalidate()
      done()
    }
  }

  private func end(_ download: Download, _ task: URLSessionDownloadTask?, _ file: URL?, _ error: (any Error)?) {
    guard let task else { return }
    let result: Result<URL, any Error>
    if let file, error == nil {
      result = .success(file)
    } else {
      // Foundation for Linux leaves an empty file after a failure.
      if let file { try? FileManager.default.removeItem(at: file) }
      result = .failure(error ?? URLError(.unknown))
    }
    lock.withLock { state.ended[download.session, default: []].append(Ended(download: download, task: task, result: result)) }
  }

  /// Lets a session's delegate receive what is over, once the session exists. The app has been told
  /// of it by then, and has kept the completion handler.
  package func release(_ identifier: String) {
    lock.withLock { _ = state.released.insert(identifier) }
    deliver(identifier)
  }

  /// Remembers a background session that the app has created.
  func add(_ session: URLSession, _ identifier: String) {
    lock.withLock {
      state.sessions[identifier] = session
      Self.read().first { $0.session == identifier }?.report(.created)
    }
    deliver(identifier)
  }

  private func deliver(_ identifier: String) {
    let (session, ended) = lock.withLock {
      let isReady = state.released.contains(identifier) && state.sessions[identifier] != nil
      return (state.sessions[identifier], isReady ? state.ended.removeValue(forKey: identifier) : nil)
    }
    guard let session, let ended else { return }
    session.delegateQueue.addOperation { [self] in
      for each in ended.sorted(by: { $0.download.task < $1.download.task }) { Self.pass(each, to: session) }
      let waiters = lock.withLock {
        state.finished.insert(identifier)
        return state.waiters.removeValue(forKey: identifier) ?? []
      }
      (session.delegate as? any URLSessionDelegate)?.urlSessionDidFinishEvents(forBackgroundURLSession: session)
      for waiter in waiters { waiter() }
    }
  }

  /// Passes a download to the delegate of its session. Its file is removed afterwards.
  private static func pass(_ ended: Ended, to session: URLSession) {
    let download = ended.download
    change { downloads in downloads.removeAll { ($0.session, $0.task) == (download.session, download.task) } }
    var failure: (any Error)?
    switch ended.result {
    case .success(let file):
      if let delegate = session.delegate as? any FoundationNetworking.URLSessionDownloadDelegate {
        delegate.urlSession(session, downloadTask: ended.task, didFinishDownloadingTo: file)
        download.report(.delivered)
      }
      try? FileManager.default.removeItem(at: file)
    case .failure(let error):
      failure = error
      if session.delegate is any FoundationNetworking.URLSessionTaskDelegate { download.report(.delivered) }
    }
    (session.delegate as? any FoundationNetworking.URLSessionTaskDelegate)?
      .urlSession(session, task: ended.task, didCompleteWithError: failure)
  }

  /// Whether the delegate of a session has received everything.
  package func isFinished(_ identifier: String) -> Bool {
    lock.withLock { state.finished.contains(identifier) }
  }

  /// Waits until the delegate of a session has received everything. Without the session, there is
  /// nothing to wait for.
  package func events(of identifier: String) async {
    await withCheckedContinuation { continuation in
      let mustWait = lock.withLock {
        guard state.sessions[identifier] != nil, !state.finished.contains(identifier) else { return false }
        state.waiters[identifier, default: []].append { continuation.resume() }
        return true
      }
      if !mustWait { continuation.resume() }
    }
  }
}

/// The task of a handler that is created before the task.
private final class TaskBox: @unchecked Sendable {
  var task: URLSessionDownloadTask?
}
