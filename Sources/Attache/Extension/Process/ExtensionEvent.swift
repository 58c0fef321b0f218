/// What a process of a service extension tells its host. All of it is a stranger's.
package enum ExtensionEvent: Sendable {
  /// The process is ready.
  ///
  /// - Parameter version: the version of the frames that its library speaks.
  case ready(version: Int, className: String)
  /// The request has reached its instance.
  case began(UInt64)
  /// `didReceive` has returned.
  case returned(UInt64)
  /// The content handler was called.
  ///
  /// - Parameter call: how often it was called for this request, this call included.
  case answer(UInt64, call: Int, ExtensionAnswer)
  /// `serviceExtensionTimeWillExpire` has returned.
  case expired(UInt64)
  /// The last that the process knows of a request.
  ///
  /// - Parameters:
  ///   - isAlive: whether the instance still exists.
  ///   - isChangedAfter: whether the content was changed after the handler had received it.
  case finished(UInt64, isAlive: Bool, isChangedAfter: Bool)
  /// An attachment was refused by Apple's rules.
  case refusedAttachment(path: String, code: Int, message: String)
  case transferBegan(number: Int, url: String)
  case transferEnded(number: Int, ExtensionTransfer)
  /// The completion handler of a silent push was called.
  ///
  /// - Parameters:
  ///   - call: how often it was called for this request, this call included.
  ///   - result: `newData`, `noData` or `failed`.
  case completed(UInt64, call: Int, result: String)
  /// The content handler was called with content that no frame can hold.
  case unreadable(UInt64, why: String)
  /// Something happened to a download of a background session.
  case background(BackgroundDownload)
  /// Something that a finding may name.
  case note(name: String, text: String)
}

/// A transfer of the extension's URLSession that has ended.
package struct ExtensionTransfer: Sendable, Hashable {
  package var url = UntrustedText("")
  package var status = 0
  package var type = UntrustedText("")
  package var bytes = 0
  /// libcurl's code; -1 if the transfer was cancelled; ``insecure`` or ``denied``.
  package var code = 0

  /// The code of plain http that may not be used.
  package static let insecure = -2
  /// The code of a host that may not be reached.
  static let denied = -3
}

/// What happened to a download of an app's background session.
package struct BackgroundDownload: Sendable, Hashable {
  package enum Event: String, Sendable {
    case started, cancelled
    /// The app has created the session again.
    case created
    /// The session's delegate has received the file or the error.
    case delivered
  }

  package var event: Event
  /// The session's identifier.
  package var session: UntrustedText
  package var task: Int
  package var url: UntrustedText
}

/// What a service extension answers.
package struct ExtensionAnswer: Sendable {
  /// The members that differ from the payload's; nil as a source removes the member.
  package var changes: [MemberChange] = []
  /// The user info that differs.
  package var userInfo: [MemberChange] = []
  package var attachments: [AnsweredAttachment] = []
}

/// An attachment as the extension describes it. Nothing of it is checked.
package struct AnsweredAttachment: Sendable {
  /// The most attachments of an answer that are looked at. iOS shows the first that it can.
  static let maximumCount = 64

  package var identifier: UntrustedText
  package var path: UntrustedText
  /// The uniform type that the extension takes it for.
  package var type: UntrustedText
  package var options = AttachmentOptions()
}
