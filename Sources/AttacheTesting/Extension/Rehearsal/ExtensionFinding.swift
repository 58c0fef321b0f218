/// What the documentation says about a finding of a service extension or of an app's delegate.
package struct ExtensionFinding: Sendable {
  /// How bad a finding is.
  package enum Level: String, Sendable {
    /// People see the wrong notification, or none that the extension has made.
    case error
    /// It works here and fails on some phones, or costs more than it should.
    case warning
  }

  /// How bad it is.
  package var level: Level
  /// What it means: the first sentence of its page.
  package var meaning: String
  /// What the author can do.
  package var advice: String

  /// The kinds of these findings, in the order of their list.
  package static let kinds = Finding.Kind.allCases.filter { $0.ofExtension != nil }

  fileprivate init(_ level: Level, _ meaning: String, _ advice: String) {
    (self.level, self.meaning, self.advice) = (level, meaning, advice)
  }
}

extension Finding.Kind {
  /// How bad a finding of a service extension is; nil for the findings of scenarios.
  package var level: ExtensionFinding.Level? { ofExtension?.level }
  /// What a finding of a service extension means; nil for the findings of scenarios.
  package var meaning: String? { ofExtension?.meaning }
  /// What the author of a service extension can do; nil for the findings of scenarios.
  package var advice: String? { ofExtension?.advice }

  fileprivate var ofExtension: ExtensionFinding? {
    switch self {
    case .answerAtExpiry:
      ExtensionFinding(
        .warning, "The content handler is called at the expiry only, although nothing was slow.",
        "Call the content handler on every path: when the payload has no media, when a guard fails, and when a download fails.")
    case .answerNever:
      ExtensionFinding(
        .error, "The content handler is not called, not even at the expiry.",
        "Call the content handler in serviceExtensionTimeWillExpire, too, with the best content so far.")
    case .answerTwice:
      ExtensionFinding(
        .error, "The content handler is called more than once.",
        "Remember that you have answered. Let the download's handler and serviceExtensionTimeWillExpire share one method that answers once."
      )
    case .answerChangedAfter:
      ExtensionFinding(
        .warning, "The content is changed after the content handler has received it.",
        "Do not change the content after the content handler has it; iOS may or may not see the change.")
    case .answerEmpty:
      ExtensionFinding(
        .warning, "The answer has no title, subtitle or body.",
        "Keep a title, a subtitle or a body. Without text, iOS ignores all that you have changed.")
    case .answerTemplate:
      ExtensionFinding(
        .warning, "The text still has the mark of Apple’s template.",
        "Remove the line of Apple's template that appends “[modified]”.")
    case .crash:
      ExtensionFinding(
        .error, "The process of the extension ended by itself.",
        "Handle what can be absent instead of unwrapping it by force. After a crash, iOS shows the original.")
    case .blocks:
      ExtensionFinding(
        .warning, "didReceive holds its thread while it downloads.",
        "Use a download task with a handler, or await, instead of Data(contentsOf:) or a semaphore in didReceive.")
    case .attachErrorPage:
      ExtensionFinding(
        .error, "A web page is attached as a picture.",
        "Check that the response is an HTTPURLResponse with status 200, and that its MIME type is that of a medium.")
    case .attachType:
      ExtensionFinding(
        .warning, "The bytes are not what the attachment’s type says.",
        "Name the file after what it is: by the response's MIME type or the first bytes, and not always .jpg.")
    case .attachRefused:
      ExtensionFinding(
        .warning, "UNNotificationAttachment refused a file, and nobody looked at the error.",
        "Catch the error of UNNotificationAttachment and log it. The file's size and its type must be those that Apple lists.")
    case .attachMismatch:
      ExtensionFinding(
        .error, "A notification gets the picture of another one, or none.",
        "Keep the content and the handler in the request's own closure, and give each file a name of its own, such as a UUID.")
    case .attachHint:
      ExtensionFinding(
        .warning, "The type hint is not a uniform type identifier.",
        "Pass a uniform type identifier as a String: UTType.jpeg.identifier or \"public.jpeg\".")
    case .attachFile:
      ExtensionFinding(
        .warning, "An attached file is not in the extension’s own folders, or is no regular file.",
        "Attach a regular file in the temporary folder, in the documents or in the app group's folder.")
    case .fetchAfterExpiry:
      ExtensionFinding(
        .warning, "The download goes on after the time was over.",
        "Cancel the download in serviceExtensionTimeWillExpire: keep its task, and call cancel().")
    case .fetchUnbounded:
      ExtensionFinding(
        .warning, "More is downloaded than may be attached.",
        "Check expectedContentLength, and cancel a download that is larger than Apple's limit for an attachment.")
    case .fetchStatus:
      ExtensionFinding(
        .warning, "The body of an error is used.",
        "Check the response's status before you use the body.")
    case .fetchScheme:
      ExtensionFinding(
        .warning, "Plain http is used, which App Transport Security refuses.",
        "Use https, or name the host in the Info.plist's NSAppTransportSecurity, as far as App Review accepts it.")
    case .memory:
      ExtensionFinding(
        .error, "The extension uses more memory than iOS allows.",
        "Use downloadTask, which writes to a file, instead of dataTask or Data(contentsOf:), which hold the whole body in memory.")
    case .leak:
      ExtensionFinding(
        .warning, "The instance lives on after its answer.",
        "Break the cycle: capture self weakly, and set the handler to nil after the answer.")
    case .filesLeft:
      ExtensionFinding(
        .warning, "Files are left behind.",
        "Remove what you have written, also when the download fails or the time is over.")
    case .imageTranscoded:
      ExtensionFinding(
        .warning, "A picture was encoded anew, and there is no codec.",
        "Attach the file as it was downloaded: encoding it anew costs memory and time.")
    case .userInfoUnserialisable:
      ExtensionFinding(
        .warning, "A value of user info cannot be written as JSON.",
        "Put only strings, numbers, booleans, arrays and dictionaries into userInfo.")
    case .categoriesRace:
      ExtensionFinding(
        .warning, "A write removes a category that another writer has added.",
        "Read, change and write the categories in one place, one after another.")
    case .silentNever:
      ExtensionFinding(
        .error, "The completion handler of a silent push is not called in time.",
        "Call the completion handler on every path, within 30 seconds; iOS gives an app less time after each push that it does not complete."
      )
    case .silentTwice:
      ExtensionFinding(
        .error, "The completion handler is called more than once.",
        "Call the completion handler once: where the last work ends.")
    case .silentNewData:
      ExtensionFinding(
        .warning, "The app says .newData, and has fetched nothing.",
        "Pass .noData when nothing was fetched, and .failed when the fetch failed; iOS plans later pushes by it.")
    case .silentNoData:
      ExtensionFinding(
        .warning, "The app says .noData or .failed, and has fetched something.",
        "Pass .newData when something was fetched.")
    case .silentAfter:
      ExtensionFinding(
        .warning, "Work goes on after the completion handler was called.",
        "Call the completion handler when all work is done; iOS suspends the app right after the call.")
    case .silentPriority:
      ExtensionFinding(
        .warning, "A push that shows nothing has priority 10.",
        "Send it with apns-priority 5.")
    case .backgroundLost:
      ExtensionFinding(
        .error, "Nobody receives the file of a background download.",
        "Create the session with the same identifier and its delegate when the app starts, or in handleEventsForBackgroundURLSession.")
    case .backgroundUnfinished:
      ExtensionFinding(
        .error, "The app does not call the completion handler of handleEventsForBackgroundURLSession.",
        "Keep the completion handler, and call it in urlSessionDidFinishEvents(forBackgroundURLSession:).")
    case .backgroundHandler:
      ExtensionFinding(
        .warning, "The app calls the completion handler of handleEventsForBackgroundURLSession at the wrong time.",
        "Call the completion handler once, in urlSessionDidFinishEvents(forBackgroundURLSession:), by DispatchQueue.main.async.")
    case .lost, .duplicated, .altered, .torn, .reordered, .late, .crashed, .hung, .outcome, .reason, .attachments, .media, .requests,
      .connections, .names, .descriptors, .exitStatus, .baseline, .disagreement, .stage:
      nil
    }
  }
}
