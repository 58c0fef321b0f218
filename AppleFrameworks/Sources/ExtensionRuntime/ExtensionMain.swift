import CExtensionRuntime
import Glibc
import Groundwork
import UserNotifications

/// Runs a service extension for the host that started this process.
public enum ExtensionMain {
  /// Serves requests until the host ends the connection. The caller's thread must be the main
  /// thread: it runs the main run loop, so that the main queue, `@MainActor` and timers work.
  ///
  /// - Parameter make: creates the instance that serves a request.
  public static func run(_ make: @escaping @Sendable () -> UNNotificationServiceExtension) -> Never {
    ExtensionProcess.begin()
    let server = ExtensionServer(make)
    ExtensionProcess.run(className: String(describing: type(of: make()))) { server.take($0) }
  }
}

/// The process that the host started.
package enum ExtensionProcess {
  /// Connects this process with its host, and takes the rules of the network. Call it before any code
  /// of the user, which may make a request at once.
  package static func begin() {
    guard runtime_begin() else {
      FileHandle.standardError.write(
        Data(
          "This program is a service extension. Run it with `attache --extension PROGRAM` or `attache rehearse --extension PROGRAM`.\n".utf8
        ))
      exit(64)
    }
    // What the extension prints must be seen even if it crashes.
    setvbuf(stdout, nil, _IOLBF, 0)
    TransferReports.begin()
    guard case .settings(let settings) = HostFrame.read() else { _exit(0) }
    TransferReports.apply(settings)
  }

  /// Reads the host's frames on a thread of its own, and runs the main run loop. The process ends
  /// when the host is gone.
  ///
  /// - Parameters:
  ///   - className: the class that serves, for the host.
  ///   - take: receives each frame about requests.
  package static func run(className: String, take: @escaping @Sendable (HostFrame) -> Void) -> Never {
    let reader = Thread {
      HostLink.send(.ready, ["version": HostLink.version, "class": className])
      while let frame = HostFrame.read() {
        switch frame {
        case .settings: break
        case .stop: exit(0)
        case .request, .expire, .finish: take(frame)
        }
      }
      _exit(0)
    }
    reader.name = "attache-frames"
    reader.start()
    // A run loop without a timer ends at once.
    let timer = Timer(timeInterval: 3_600, repeats: true) { _ in }
    RunLoop.main.add(timer, forMode: .default)
    while true { RunLoop.main.run() }
  }
}
