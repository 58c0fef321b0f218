/// Publishes attachments under a public URL.
package protocol AttachmentUploader: Sendable {
  /// Publishes a file of the store, unless it is known to be published.
  ///
  /// - Parameters:
  ///   - file: a file that the caller has pinned, and unpins after the completion.
  ///   - deadline: the end of the budget. No try begins after it.
  ///   - completion: called once, on any thread, also after the deadline and after ``shutdown()``.
  func upload(_ file: StoredFile, deadline: MonotonicInstant, completion: @escaping @Sendable (UploadResult) -> Void)

  /// Ends all uploads as failed. May be called more than once.
  func shutdown()
}

/// The result of an upload.
package enum UploadResult: Hashable, Sendable {
  case published
  /// - Parameters:
  ///   - reason: ``Reason/uploadFailed`` or ``Reason/uploadRefused``.
  ///   - explanation: what happened, for the log.
  case failed(Reason, explanation: String)
}
