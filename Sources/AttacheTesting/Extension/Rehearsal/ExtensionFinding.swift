/// What the findings about a service extension mean: how bad each is, and what to do.
package enum ExtensionFinding {
  /// How bad a finding is.
  package enum Level: String, Sendable {
    /// People see the wrong notification, or none that the extension has made.
    case error
    /// It works here and fails on some phones, or costs more than it should.
    case warning
  }

  /// The kinds that a service extension can have, in the order of the documentation.
  package static let kinds: [Finding.Kind] = [
    .answerAtExpiry, .answerNever, .answerTwice, .answerChangedAfter, .answerEmpty, .answerTemplate, .crash, .blocks, .attachErrorPage,
    .attachType, .attachRefused, .attachMismatch, .attachHint, .attachFile, .fetchAfterExpiry, .fetchUnbounded, .fetchStatus,
    .fetchScheme, .memory, .leak, .filesLeft, .imageTranscoded, .userInfoUnserialisable, .categoriesRace, .silentNever, .silentTwice,
    .silentNewData, .silentNoData, .silentAfter, .silentPriority, .backgroundLost, .backgroundUnfinished, .backgroundHandler,
  ]
}

extension Finding.Kind {
  /// How bad a finding of a service extension is; nil for the findings of scenarios.
  package var level: ExtensionFinding.Level? {
    switch self {
    case .silentNever, .silentTwice, .backgroundLost, .backgroundUnfinished, .answerNever, .answerTwice, .crash, .attachErrorPage,
      .attachMismatch, .memory:
      .error
    case .silentNewData, .silentNoData, .silentAfter, .silentPriority, .backgroundHandler, .answerAtExpiry, .answerChangedAfter,
      .answerEmpty, .answerTemplate, .blocks, .attachType, .attachRefused, .attachHint, .attachFile, .fetchAfterExpiry, .fetchUnbounded,
      .fetchStatus, .fetchScheme, .leak, .filesLeft, .imageTranscoded, .userInfoUnserialisable, .categoriesRace:
      .warning
    case .lost, .duplicated, .altered, .torn, .reordered, .late, .crashed, .hung, .outcome, .reason, .attachments, .media, .requests,
      .connections, .names, .descriptors, .exitStatus, .baseline, .disagreement, .stage:
      nil
    }
  }

  /// What the author of a service extension can do; nil for the findings of scenarios.
  package var advice: String? {
    switch self {
    case .answerAtExpiry:
      "Call the content handler on every path: when the payload has no media, when a guard fails, and when a download fails."
    case .answerNever: "Call the content handler in serviceExtensionTimeWillExpire, too, with the best content so far."
    case .answerTwice:
      "Remember that you have answered. Let the download's handler and serviceExtensionTimeWillExpire share one method that answers once."
    case .answerChangedAfter: "Do not change the content after the content handler has it; iOS may or may not see the change."
    case .answerEmpty: "Keep a title, a subtitle or a body. Without text, iOS ignores all that you have changed."
    case .answerTemplate: "Remove the line of Apple's template that appends “[modified]”."
    case .crash: "Handle what can be absent instead of unwrapping it by force. After a crash, iOS shows the original."
    case .blocks: "Use a download task with a handler, or await, instead of Data(contentsOf:) or a semaphore in didReceive."
    case .attachErrorPage: "Check that the response is an HTTPURLResponse with status 200, and that its MIME type is that of a medium."
    case .attachType: "Name the file after what it is: by the response's MIME type or the first bytes, and not always .jpg."
    case .attachRefused:
      "Catch the error of UNNotificationAttachment and log it. The file's size and its type must be those that Apple lists."
    case .attachMismatch:
      "Keep the content and the handler in the request's own closure, and give each file a name of its own, such as a UUID."
    case .attachHint: "Pass a uniform type identifier as a String: UTType.jpeg.identifier or \"public.jpeg\"."
    case .attachFile: "Attach a regular file in the temporary folder, in the documents or in the app group's folder."
    case .fetchAfterExpiry: "Cancel the download in serviceExtensionTimeWillExpire: keep its task, and call cancel()."
    case .fetchUnbounded: "Check expectedContentLength, and cancel a download that is larger than Apple's limit for an attachment."
    case .fetchStatus: "Check the response's status before you use the body."
    case .fetchScheme: "Use https, or name the host in the Info.plist's NSAppTransportSecurity, as far as App Review accepts it."
    case .memory: "Use downloadTask, which writes to a file, instead of dataTask or Data(contentsOf:), which hold the whole body in memory."
    case .leak: "Break the cycle: capture self weakly, and set the handler to nil after the answer."
    case .filesLeft: "Remove what you have written, also when the download fails or the time is over."
    case .imageTranscoded: "Attach the file as it was downloaded: encoding it anew costs memory and time."
    case .userInfoUnserialisable: "Put only strings, numbers, booleans, arrays and dictionaries into userInfo."
    case .categoriesRace: "Read, change and write the categories in one place, one after another."
    case .silentNever:
      "Call the completion handler on every path, within 30 seconds; iOS gives an app less time after each push that it does not complete."
    case .silentTwice: "Call the completion handler once: where the last work ends."
    case .silentNewData: "Pass .noData when nothing was fetched, and .failed when the fetch failed; iOS plans later pushes by it."
    case .silentNoData: "Pass .newData when something was fetched."
    case .silentAfter: "Call the completion handler when all work is done; iOS suspends the app right after the call."
    case .silentPriority: "Send it with apns-priority 5."
    case .backgroundLost:
      "Create the session with the same identifier and its delegate when the app starts, or in handleEventsForBackgroundURLSession."
    case .backgroundUnfinished: "Keep the completion handler, and call it in urlSessionDidFinishEvents(forBackgroundURLSession:)."
    case .backgroundHandler:
      "Call the completion handler once, in urlSessionDidFinishEvents(forBackgroundURLSession:), by DispatchQueue.main.async."
    case .lost, .duplicated, .altered, .torn, .reordered, .late, .crashed, .hung, .outcome, .reason, .attachments, .media, .requests,
      .connections, .names, .descriptors, .exitStatus, .baseline, .disagreement, .stage:
      nil
    }
  }
}
