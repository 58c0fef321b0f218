extension ExtensionAnswer {
  /// Returns a payload as a phone shows it with this answer: with the changed members, and with the
  /// attachments as the filter writes them. A phone does not limit the size of what an extension
  /// changes.
  ///
  /// - Parameters:
  ///   - files: the file of each attachment; nil for one that cannot be attached.
  ///   - store: the store of the files.
  /// - Returns: nil if the phone shows the original.
  package func applied(to payload: [UInt8], files: [StoredFile?], in store: AttachmentStore) -> [UInt8]? {
    let line = Segment(copying: payload, padding: PayloadReader.padding)
    guard case .candidates(let candidates) = unsafe line.withUnsafeBytes({ unsafe PayloadReader().read($0) }),
      var candidate = candidates.first
    else { return nil }
    var content = candidate.content(in: line)
    if !changes.isEmpty || !userInfo.isEmpty { content.apply(self) }
    guard !content.lacksAlertText, let edit = ContentEdit(from: candidate.content(in: line).members, to: content.members),
      edit.isEmpty || candidate.apply(edit, in: line)
    else { return nil }
    let attached = zip(attachments, files).compactMap { attachment, file in
      file.map { Attachment(identifier: attachment.identifier, file: $0, source: UntrustedText(""), options: attachment.options) }
    }
    var edits = candidate.edits
    if !attached.isEmpty { edits += candidate.splice.edits(with: AttachmentMember(baseURL: store.baseURL).bytes(for: attached)) }
    return edits.isEmpty ? nil : LineEdit.apply(edits, to: payload)
  }
}
