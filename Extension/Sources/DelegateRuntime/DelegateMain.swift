import ExtensionRuntime
import Groundwork
import UIKit

/// Runs an app's delegate in the background, for the host that started this process.
public enum DelegateMain {
  /// The identifier of a request that is not a silent push but a background fetch.
  private static let backgroundFetch = "background-fetch"

  /// Serves silent pushes until the host ends the connection. The caller's thread must be the main
  /// thread, on which iOS calls a delegate.
  public static func run(_ make: () -> any NSObject & UIApplicationDelegate) -> Never {
    nonisolated(unsafe) let delegate = make()
    UIApplication.shared.delegate = delegate
    _ = delegate.application(.shared, willFinishLaunchingWithOptions: nil)
    _ = delegate.application(.shared, didFinishLaunchingWithOptions: nil)
    ExtensionProcess.run(className: String(describing: type(of: delegate))) { frame in
      switch frame {
      case .request(let number, _, let identifier, let payload):
        DispatchQueue.main.async { serve(number, identifier, payload, delegate) }
      case .finish(let number): HostLink.send(.finished, ["request": number, "isAlive": false, "isChangedAfter": false])
      case .settings, .expire, .stop: break
      }
    }
  }

  private static func serve(_ number: UInt64, _ identifier: String, _ payload: Data, _ delegate: any NSObject & UIApplicationDelegate) {
    let calls = CallCount()
    HostLink.send(.began, ["request": number])
    let completed: (UIBackgroundFetchResult) -> Void = { result in
      HostLink.send(.completed, ["request": number, "call": calls.next(), "result": "\(result)"])
    }
    if identifier == backgroundFetch {
      delegate.application(.shared, performFetchWithCompletionHandler: completed)
    } else {
      let userInfo = (try? JSONSerialization.jsonObject(with: payload)) as? [AnyHashable: Any] ?? [:]
      delegate.application(.shared, didReceiveRemoteNotification: userInfo, fetchCompletionHandler: completed)
    }
    HostLink.send(.returned, ["request": number])
  }
}

private final class CallCount: @unchecked Sendable {
  private let lock = NSLock()
  private var count = 0

  func next() -> Int {
    lock.withLock {
      count += 1
      return count
    }
  }
}
