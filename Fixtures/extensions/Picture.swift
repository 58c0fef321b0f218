// Encodes the picture anew before it is attached.
import UIKit
import UserNotifications

class NotificationService: UNNotificationServiceExtension {
  override func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    let content = request.content.mutableCopy() as! UNMutableNotificationContent
    guard let text = content.userInfo["image"] as? String, let url = URL(string: text) else { return contentHandler(content) }
    URLSession.shared.dataTask(with: url) { data, _, _ in
      if let data = data, let image = UIImage(data: data), let png = image.pngData() {
        let place = FileManager.default.temporaryDirectory.appendingPathComponent(ProcessInfo.processInfo.globallyUniqueString + ".png")
        try? png.write(to: place)
        content.subtitle = "\(Int(image.size.width)) × \(Int(image.size.height))"
        if let attachment = try? UNNotificationAttachment(identifier: "", url: place) { content.attachments = [attachment] }
      }
      contentHandler(content)
    }.resume()
  }
}
