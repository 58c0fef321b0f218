// Uses what Foundation for Linux lacks.
import Foundation
import Network
import UIKit
import WidgetKit
import os

class NotificationService: UNNotificationServiceExtension {
  override func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    let content = request.content.mutableCopy() as! UNMutableNotificationContent
    content.body = [links(request.content.body), dates(), files(), device()].joined(separator: "\n")
    contentHandler(content)
  }

  private func links(_ text: String) -> String {
    guard let detector = try? NSDataDetector(types: NSTextCheckingResult.CheckingType.link.rawValue) else { return "no detector" }
    let matches = detector.matches(in: text, range: NSRange(text.startIndex..., in: text))
    return matches.map { "\($0.url?.absoluteString ?? "none") \((text as NSString).substring(with: $0.range))" }.joined(separator: " | ")
  }

  private func dates() -> String {
    let formatter = RelativeDateTimeFormatter()
    formatter.calendar = Calendar(identifier: .gregorian)
    let now = Date(timeIntervalSince1970: 1_700_000_000)
    func text(_ seconds: TimeInterval) -> String { formatter.localizedString(for: now.addingTimeInterval(seconds), relativeTo: now) }
    var texts = [text(-300), text(3_600), text(-86_400), text(0), formatter.localizedString(from: DateComponents(month: -2))]
    formatter.dateTimeStyle = .named
    texts += [text(-86_400), text(2 * 86_400), text(0)]
    formatter.unitsStyle = .short
    return (texts + [text(-300)]).joined(separator: ", ")
  }

  /// Two threads add to a number in a file.
  private func files() -> String {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("count")
    defer { try? FileManager.default.removeItem(at: file) }
    try? Data("0".utf8).write(to: file)
    DispatchQueue.concurrentPerform(iterations: 64) { _ in
      var error: NSError?
      NSFileCoordinator(filePresenter: nil).coordinate(writingItemAt: file, options: .forReplacing, error: &error) { place in
        let count = (try? String(contentsOf: place, encoding: .utf8)).flatMap { Int($0) } ?? 0
        try? Data("\(count + 1)".utf8).write(to: place)
      }
    }
    var text = ""
    NSFileCoordinator().coordinate(readingItemAt: file, error: nil) { place in
      // Another reader does not wait for this one.
      NSFileCoordinator().coordinate(readingItemAt: place, error: nil) { text = (try? String(contentsOf: $0, encoding: .utf8)) ?? "none" }
    }
    return text
  }

  private func device() -> String {
    let pressure = DispatchSource.makeMemoryPressureSource(eventMask: [.warning, .critical], queue: .main)
    pressure.setEventHandler {}
    pressure.activate()
    pressure.cancel()
    let count = OSAllocatedUnfairLock(initialState: 0)
    DispatchQueue.concurrentPerform(iterations: 100) { _ in count.withLock { $0 += 1 } }
    let expires = DispatchSemaphore(value: 0)
    let isExpired = OSAllocatedUnfairLock(initialState: true)
    ProcessInfo.processInfo.performExpiringActivity(withReason: "upload") { expiring in
      isExpired.withLock { $0 = expiring }
      expires.signal()
    }
    expires.wait()
    let network = NWPathMonitor()
    let isReachable = OSAllocatedUnfairLock(initialState: false)
    network.pathUpdateHandler = { path in
      isReachable.withLock { $0 = path.status == .satisfied && path.usesInterfaceType(.wifi) }
      expires.signal()
    }
    network.start(queue: .global())
    expires.wait()
    network.cancel()
    WidgetCenter.shared.reloadAllTimelines()
    let home = NSHomeDirectory()
    let folders = [URL.libraryDirectory, .applicationSupportDirectory].map { String($0.path.dropFirst(home.count)) }
    return [
      "\(pressure.isCancelled)", "\(count.withLock { $0 })", "\(isExpired.withLock { $0 })", folders.joined(separator: " "),
      "\(isReachable.withLock { $0 })", "\(NSValue(cgRect: CGRect(x: 1, y: 2, width: 3, height: 4)).cgRectValue.width)",
      "\(ProcessInfo.processInfo.isLowPowerModeEnabled)", "\(ProcessInfo.processInfo.thermalState)",
      Bundle.main.appStoreReceiptURL?.lastPathComponent ?? "none",
      "\((CFUUIDCreateString(kCFAllocatorDefault, CFUUIDCreate(nil)) as String).count)",
    ].joined(separator: ", ")
  }
}
