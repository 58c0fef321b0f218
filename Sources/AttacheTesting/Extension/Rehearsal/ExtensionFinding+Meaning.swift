extension Finding.Kind {
  /// What a finding of a service extension means, in the words of its page; nil for the findings of
  /// scenarios.
  package var meaning: String? {
    switch self {
    case .answerAtExpiry: "The content handler is called at the expiry only, although nothing was slow."
    case .answerNever: "The content handler is not called, not even at the expiry."
    case .answerTwice: "The content handler is called more than once."
    case .answerChangedAfter: "The content is changed after the content handler has received it."
    case .answerEmpty: "The answer has no title, subtitle or body."
    case .answerTemplate: "The text still has the mark of Apple’s template."
    case .crash: "The process of the extension ended by itself."
    case .blocks: "didReceive holds its thread while it downloads."
    case .attachErrorPage: "A web page is attached as a picture."
    case .attachType: "The bytes are not what the attachment’s type says."
    case .attachRefused: "UNNotificationAttachment refused a file, and nobody looked at the error."
    case .attachMismatch: "A notification gets the picture of another one, or none."
    case .attachHint: "The type hint is not a uniform type identifier."
    case .attachFile: "An attached file is not in the extension’s own folders, or is no regular file."
    case .fetchAfterExpiry: "The download goes on after the time was over."
    case .fetchUnbounded: "More is downloaded than may be attached."
    case .fetchStatus: "The body of an error is used."
    case .fetchScheme: "Plain http is used, which App Transport Security refuses."
    case .memory: "The extension uses more memory than iOS allows."
    case .leak: "The instance lives on after its answer."
    case .filesLeft: "Files are left behind."
    case .imageTranscoded: "A picture was encoded anew, and there is no codec."
    case .userInfoUnserialisable: "A value of user info cannot be written as JSON."
    case .categoriesRace: "Two writers of the categories do not know of each other."
    case .silentNever: "The completion handler of a silent push is not called in time."
    case .silentTwice: "The completion handler is called more than once."
    case .silentNewData: "The app says .newData, and has fetched nothing."
    case .silentNoData: "The app says .noData or .failed, and has fetched something."
    case .silentAfter: "Work goes on after the completion handler was called."
    case .silentPriority: "A push that shows nothing has priority 10."
    case .backgroundLost: "Nobody receives the file of a background download."
    case .backgroundUnfinished: "The app does not call the completion handler of handleEventsForBackgroundURLSession."
    case .backgroundHandler: "The app calls the completion handler of handleEventsForBackgroundURLSession at the wrong time."
    case .lost, .duplicated, .altered, .torn, .reordered, .late, .crashed, .hung, .outcome, .reason, .attachments, .media, .requests,
      .connections, .names, .descriptors, .exitStatus, .baseline, .disagreement, .stage:
      nil
    }
  }
}
