import ExtensionRuntime
import Groundwork
import UIKit

/// Runs an app's delegate in the background, for the host that started this process.
public enum DelegateMain {
  /// The identifier of a request that is not a silent push but a background fetch.
  private static let backgroundFetch = "background-fetch"
  /// The identifier of a request that tells the app of a background session's events. Its payload
  /// names the session.
  private static let backgroundEvents = "background-events"

  /// Serves silent pushes until the host ends the connection. The caller's thread must be the main
  /// thread, on which iOS calls a delegate.
  public static func run(_ make: () -> any NSObject & UIApplicationDelegate) -> Never {
    BackgroundSessions.isApp = true
    ExtensionProcess.begin()
    nonisolated(unsafe) let delegate = make()
    UIApplication.shared.delegate = delegate
    let launch = Launch(delegate)
    ExtensionProcess.run(className: String(describing: type(of: delegate))) { frame in
      switch frame {
      case .request(let number, _, let identifier, let payload):
        nonisolated(unsafe) let values = (try? JSONSerialization.jsonObject(with: payload)) as? [AnyHashable: Any] ?? [:]
        DispatchQueue.main.async { serve(number, identifier, values, delegate, launch) }
      case .finish(let number):
        UserDefaults.synchronizeAll()
        HostLink.send(.finished, ["request": number, "isAlive": false, "isChangedAfter": false])
      case .settings, .expire, .stop: break
      }
    }
  }

  private static func serve(
    _ number: UInt64, _ identifier: String, _ values: [AnyHashable: Any], _ delegate: any NSObject & UIApplicationDelegate, _ launch: Launch
  ) {
    let call = PushCall(number)
    switch identifier {
    case backgroundFetch:
      launch.run()
      call.begin { delegate.application(.shared, performFetchWithCompletionHandler: { call.complete("\($0)") }) }
    case backgroundEvents:
      launch.run()
      let session = values["session"] as? String ?? ""
      nonisolated(unsafe) let delegate = delegate
      BackgroundSessions.shared.download(session) {
        DispatchQueue.main.async { tell(delegate, session, call) }
      }
    default:
      launch.run([.remoteNotification: values])
      call.begin {
        delegate.application(.shared, didReceiveRemoteNotification: values, fetchCompletionHandler: { call.complete("\($0)") })
      }
    }
  }

  /// Tells the app that the downloads of a background session are over. The host learns how the
  /// app calls the completion handler: `early`, on another thread than the main one (`off-main-thread`), or as
  /// it must (`in-order`).
  private static func tell(_ delegate: any NSObject & UIApplicationDelegate, _ session: String, _ call: PushCall) {
    call.begin {
      delegate.application(.shared, handleEventsForBackgroundURLSession: session) {
        let isFinished = BackgroundSessions.shared.isFinished(session)
        call.complete(!isFinished ? "early" : Thread.isMainThread ? "in-order" : "off-main-thread")
      }
    }
    BackgroundSessions.shared.release(session)
  }
}

/// The launch of the app, by the first request. On the main thread only.
private final class Launch: @unchecked Sendable {
  private let delegate: any NSObject & UIApplicationDelegate
  private var isOver = false

  init(_ delegate: any NSObject & UIApplicationDelegate) {
    self.delegate = delegate
  }

  func run(_ options: [UIApplication.LaunchOptionsKey: Any]? = nil) {
    guard !isOver else { return }
    isOver = true
    _ = delegate.application(.shared, willFinishLaunchingWithOptions: options)
    _ = delegate.application(.shared, didFinishLaunchingWithOptions: options)
  }
}

/// A call of the delegate, whose completion handler may be called several times and on any thread.
private final class PushCall: @unchecked Sendable {
  private let number: UInt64
  private let lock = NSLock()
  private var count = 0

  init(_ number: UInt64) {
    self.number = number
  }

  func begin(_ body: () -> Void) {
    UIApplication.shared.wake()
    HostLink.send(.began, request: number)
    body()
    HostLink.send(.returned, request: number)
  }

  func complete(_ result: String) {
    let call = lock.withLock {
      count += 1
      return count
    }
    HostLink.send(.completed, ["request": number, "call": call, "result": result])
  }
}
