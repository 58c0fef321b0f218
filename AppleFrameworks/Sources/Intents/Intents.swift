@_exported import Groundwork
import UserNotifications

public enum INPersonHandleType: Int, Sendable {
  case unknown = 0
  case emailAddress = 1
  case phoneNumber = 2
}

public struct INPersonHandleLabel: RawRepresentable, Hashable, Sendable {
  public var rawValue: String

  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  public static let home = INPersonHandleLabel(rawValue: "home")
  public static let work = INPersonHandleLabel(rawValue: "work")
  public static let other = INPersonHandleLabel(rawValue: "other")
}

open class INPersonHandle: NSObject {
  public let value: String?
  public let type: INPersonHandleType

  public init(value: String?, type: INPersonHandleType, label: INPersonHandleLabel? = nil) {
    (self.value, self.type) = (value, type)
    super.init()
  }
}

/// A picture, which is kept as it was given.
open class INImage: NSObject {
  public let data: Data?
  public let url: URL?

  private init(data: Data?, url: URL?) {
    (self.data, self.url) = (data, url)
    super.init()
  }

  public convenience init(imageData: Data) {
    self.init(data: imageData, url: nil)
  }

  public convenience init?(url: URL) {
    self.init(data: nil, url: url)
  }

  public convenience init(named name: String) {
    self.init(data: nil, url: Bundle.main.url(forResource: name, withExtension: nil))
  }
}

public enum INPersonSuggestionType: Int, Sendable {
  case none = 0
  case socialProfile = 1
  case instantMessageAddress = 2
}

open class INPerson: NSObject {
  public let personHandle: INPersonHandle?
  public let nameComponents: PersonNameComponents?
  public let displayName: String
  public let image: INImage?
  public let contactIdentifier: String?
  public let customIdentifier: String?
  public let isMe: Bool

  public init(
    personHandle: INPersonHandle, nameComponents: PersonNameComponents?, displayName: String?, image: INImage?, contactIdentifier: String?,
    customIdentifier: String?, isMe: Bool = false, suggestionType: INPersonSuggestionType = .none
  ) {
    (self.personHandle, self.nameComponents, self.image) = (personHandle, nameComponents, image)
    self.displayName = displayName ?? personHandle.value ?? ""
    (self.contactIdentifier, self.customIdentifier, self.isMe) = (contactIdentifier, customIdentifier, isMe)
    super.init()
  }
}

open class INSpeakableString: NSObject {
  public let spokenPhrase: String

  public init(spokenPhrase: String) {
    self.spokenPhrase = spokenPhrase
    super.init()
  }
}

public enum INOutgoingMessageType: Int, Sendable {
  case unknown = 0
  case outgoingMessageText = 1
  case outgoingMessageAudio = 2
}

open class INSendMessageAttachment: NSObject {}

open class INIntentDonationMetadata: NSObject {}

open class INSendMessageIntentDonationMetadata: INIntentDonationMetadata {
  open var mentionsCurrentUser = false
  open var isReplyToCurrentUser = false
  open var notifyRecipientAnyway = false
  open var recipientCount = 0
}

open class INIntent: NSObject {
  open var identifier: String?
  open var suggestedInvocationPhrase: String?
  open var donationMetadata: INIntentDonationMetadata?
  fileprivate var images: [AnyKeyPath: INImage] = [:]
}

/// In a protocol, so that a key path such as `\.sender` is one of the intent's own class.
public protocol INImageSettable: AnyObject {}

extension INImageSettable where Self: INIntent {
  public func setImage<Value>(_ image: INImage?, forParameterNamed parameterName: KeyPath<Self, Value>) {
    images[parameterName] = image
  }

  public func image<Value>(forParameterNamed parameterName: KeyPath<Self, Value>) -> INImage? {
    images[parameterName]
  }
}

extension INIntent: INImageSettable {}

open class INSendMessageIntent: INIntent, UNNotificationContentProviding {
  public let recipients: [INPerson]?
  public let outgoingMessageType: INOutgoingMessageType
  public let content: String?
  public let speakableGroupName: INSpeakableString?
  public let conversationIdentifier: String?
  public let serviceName: String?
  public let sender: INPerson?
  public let attachments: [INSendMessageAttachment]?

  public init(
    recipients: [INPerson]?, outgoingMessageType: INOutgoingMessageType = .unknown, content: String?,
    speakableGroupName: INSpeakableString?,
    conversationIdentifier: String?, serviceName: String?, sender: INPerson?, attachments: [INSendMessageAttachment]? = nil
  ) {
    (self.recipients, self.outgoingMessageType, self.content) = (recipients, outgoingMessageType, content)
    (self.speakableGroupName, self.conversationIdentifier) = (speakableGroupName, conversationIdentifier)
    (self.serviceName, self.sender, self.attachments) = (serviceName, sender, attachments)
    super.init()
  }
}

open class INStartCallIntent: INIntent, UNNotificationContentProviding {
  public let contacts: [INPerson]?

  public init(contacts: [INPerson]?) {
    self.contacts = contacts
    super.init()
  }
}

public enum INInteractionDirection: Int, Sendable {
  case unspecified = 0
  case outgoing = 1
  case incoming = 2
}

open class INIntentResponse: NSObject {}

open class INInteraction: NSObject {
  public let intent: INIntent
  open var direction = INInteractionDirection.unspecified
  open var identifier = UUID().uuidString
  open var groupIdentifier: String?

  public init(intent: INIntent, response: INIntentResponse?) {
    self.intent = intent
    super.init()
  }

  /// Always succeeds.
  open func donate(completion: (@Sendable ((any Error)?) -> Void)? = nil) {
    DispatchQueue.global().async { completion?(nil) }
  }

  /// Always succeeds.
  open func donate() async throws {}
}
