import Groundwork

public let UNErrorDomain = "UNErrorDomain"

/// An error of this framework.
public struct UNError: CustomNSError, Hashable, Error {
  public enum Code: Int, Sendable {
    case notificationsNotAllowed = 1
    case attachmentInvalidURL = 100
    case attachmentUnrecognizedType = 101
    case attachmentInvalidFileSize = 102
    case attachmentNotInDataStore = 103
    case attachmentMoveIntoDataStoreFailed = 104
    case attachmentCorrupt = 105
    case notificationInvalidNoDate = 1400
    case notificationInvalidNoContent = 1401
    case contentProvidingObjectNotAllowed = 1500
    case contentProvidingInvalid = 1501
    case badgeInputInvalid = 1600
  }

  public let code: Code
  private let message: String

  public init(_ code: Code) {
    self.init(code, "")
  }

  package init(_ code: Code, _ message: String) {
    (self.code, self.message) = (code, message)
  }

  public static var errorDomain: String { UNErrorDomain }
  public var errorCode: Int { code.rawValue }
  public var errorUserInfo: [String: Any] { message.isEmpty ? [:] : [NSLocalizedDescriptionKey: message] }
  public var localizedDescription: String { message.isEmpty ? "error \(code.rawValue)" : message }

  public static let notificationsNotAllowed = Code.notificationsNotAllowed
  public static let attachmentInvalidURL = Code.attachmentInvalidURL
  public static let attachmentUnrecognizedType = Code.attachmentUnrecognizedType
  public static let attachmentInvalidFileSize = Code.attachmentInvalidFileSize
  public static let attachmentNotInDataStore = Code.attachmentNotInDataStore
  public static let attachmentMoveIntoDataStoreFailed = Code.attachmentMoveIntoDataStoreFailed
  public static let attachmentCorrupt = Code.attachmentCorrupt
}
