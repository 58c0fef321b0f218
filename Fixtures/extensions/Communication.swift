// Shows the notification as a message of a person.
import Intents
import UserNotifications

class NotificationService: UNNotificationServiceExtension {
  override func didReceive(
    _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
  ) {
    let handle = INPersonHandle(value: "anna", type: .unknown)
    let sender = INPerson(
      personHandle: handle, nameComponents: nil, displayName: "Anna", image: INImage(imageData: Data()), contactIdentifier: nil,
      customIdentifier: nil)
    let intent = INSendMessageIntent(
      recipients: nil, outgoingMessageType: .outgoingMessageText, content: request.content.body, speakableGroupName: nil,
      conversationIdentifier: "1", serviceName: nil, sender: sender, attachments: nil)
    intent.setImage(sender.image, forParameterNamed: \.sender)
    let interaction = INInteraction(intent: intent, response: nil)
    interaction.direction = .incoming
    interaction.donate(completion: nil)
    do {
      let content = try request.content.updating(from: intent) as! UNMutableNotificationContent
      content.threadIdentifier = "anna"
      contentHandler(content)
    } catch {
      contentHandler(request.content)
    }
  }
}
