/// The settings of an engine and of the filter or the queue worker that it serves.
package struct EngineConfiguration: Sendable {
  package var filter = FilterConfiguration()
  package var fetching = FetchConfiguration()
  package var store: AttachmentStore.Configuration
  /// The time before the deadline that is kept for writing the line; nil for the default.
  package var grace: Duration?
  /// The maximum number of media to fetch for each payload.
  package var maximumAttachments = 10
  /// What to write if time expires before all media are decided.
  package var onExpiry = MediaExtension.ExpiryChoice.original
  /// Where attachments are published; nil leaves them in the store.
  package var upload: Bucket?
  /// Whether to publish files that are private (``StoredFile/isPrivate``).
  package var uploadsPrivate = false
  /// The user's service extension, which serves payloads instead of attache's own; nil for none.
  package var serviceExtension: ExtensionProcesses.Configuration?
  /// The file of header fields by origin; nil for none. See ``readHeaderFile()``.
  package var headerFile: String?
  /// Whether an invalid line gives an exit status other than 0.
  package var isStrict = false

  package init(store: AttachmentStore.Configuration) {
    self.store = store
  }

  /// The value of ``grace``; without it 50 ms, but at most half of the deadline.
  package var effectiveGrace: Duration {
    grace ?? min(.milliseconds(50), filter.deadline / 2)
  }

  /// Publishes attachments in a bucket. Their public URL is the base URL, unless there is one.
  ///
  /// - Parameter bucket: nil leaves them in the store.
  package mutating func publish(in bucket: Bucket?, includesPrivate: Bool) {
    (upload, uploadsPrivate) = (bucket, includesPrivate)
    if let bucket, filter.baseURL == nil { filter.baseURL = bucket.publicURL }
  }

  /// Reads the header fields of ``headerFile``. Call it after ``fetcherParent(isReplaceable:)``, so that
  /// no process that reads what origins send has them in its memory.
  ///
  /// - Throws: ``StartError`` when the file cannot be used.
  package mutating func readHeaderFile() throws(StartError) {
    if let headerFile { fetching.fields = try OriginFields(contentsOf: headerFile) }
  }

  /// Forks the parent of the fetcher processes. Call it while the process has one thread and no
  /// open database, store or connection.
  ///
  /// - Parameter isReplaceable: whether the process is replaced when it ends.
  /// - Throws: ``SystemError`` when the system refuses.
  package func fetcherParent(isReplaceable: Bool = false) throws(SystemError) -> FetcherParent {
    let fetches = filter.jobs.multipliedReportingOverflow(by: maximumAttachments)
    return try FetcherParent(
      fetching, store: store.directory, maximumBytes: store.maximumBytes, maximumAge: store.maximumAge,
      fetches: fetches.overflow ? .max : fetches.partialValue, uploader: upload?.program, isReplaceable: isReplaceable)
  }

  /// The files that the processes which fetch and upload read again and again.
  package var filesOfProcesses: [String] { FetcherBounds.namesFiles + (upload?.program.files ?? []) }

  /// Returns the exit status of `attache` after a run, numbered as in sysexits.h.
  package func exitStatus(after result: Filter.Result) -> Int32 {
    if result.reportFailure != nil { return ExitStatus.inputOutput }
    if !result.isComplete { return ExitStatus.temporaryFailure }
    return isStrict && result.summary.lines(.invalid) > 0 ? ExitStatus.data : 0
  }
}

extension FilterFailure {
  /// The exit status of `attache` after a run that failed.
  package var exitStatus: Int32 {
    switch self {
    case .input, .output, .report: ExitStatus.inputOutput
    case .start: ExitStatus.software
    }
  }
}
