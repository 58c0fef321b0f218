extension MediaRecord {
  /// Returns the record of a file that was fetched and not published.
  func failed(_ reason: Reason, _ explanation: String) -> MediaRecord {
    var record = self
    (record.reason, record.explanation) = (reason, explanation)
    return record
  }

  /// Returns the record of a file whose upload did not finish.
  func unpublished(_ reason: Reason) -> MediaRecord {
    guard reason == .deadline else { return failed(reason, "the upload was not complete") }
    return failed(.uploadFailed, "the upload was not complete at the deadline; check the bucket's server, or raise --deadline")
  }
}
