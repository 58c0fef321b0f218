extension Dialect {
  /// The rows that attache knows, in the order in which they are asked.
  package static let builtIn: [Dialect] = [firebase, generic]

  /// Firebase Cloud Messaging; its helper takes a string and passes everything else over.
  ///
  /// Source: https://github.com/firebase/firebase-ios-sdk/blob/main/FirebaseMessaging/Sources/FIRMessagingExtensionHelper.m
  static let firebase = Dialect(
    "firebase", recogniser: [.object(JSONPointer("fcm_options"))],
    sources: [MediaSource(JSONPointer("fcm_options", "image"), form: .text)])

  /// Keys that hand-written service extensions read, the most frequent first; taken from about 150 public repositories.
  static let generic = Dialect(
    "generic", precedence: .lastResort,
    sources: [
      .handWritten(JSONPointer("image"), needsScheme: true),
      .handWritten(JSONPointer("attachment-url"), needsScheme: true, typeHint: .at(JSONPointer("media-type"))),
      .handWritten(
        JSONPointer("aps", "data", "attachment-url"), needsScheme: true, typeHint: .at(JSONPointer("aps", "data", "media-type"))),
      .handWritten(JSONPointer("image_url"), needsScheme: true),
      .handWritten(JSONPointer("imageUrl"), needsScheme: true),
      .handWritten(JSONPointer("video-url"), needsScheme: true),
      .handWritten(JSONPointer("attachment"), needsScheme: true),
      .handWritten(JSONPointer("image-url"), needsScheme: true),
      .handWritten(JSONPointer("imageURL"), needsScheme: true),
      .handWritten(JSONPointer("video"), needsScheme: true),
      .handWritten(JSONPointer("audio"), needsScheme: true),
      .handWritten(JSONPointer("mp4"), needsScheme: true),
      .handWritten(JSONPointer("thumbnailUrl"), needsScheme: true),
      .handWritten(JSONPointer("remoteImageUrl"), needsScheme: true),
      .handWritten(JSONPointer("gcm.notification.image"), needsScheme: true),
      .handWritten(JSONPointer("media-url"), needsScheme: true),
    ])

  /// The places that the user names, in the user's order. A string that is no URL is a reference all the same: the URL gate says so.
  static func mediaKeys(_ paths: [JSONPointer]) -> Dialect {
    Dialect("media-key", precedence: .user, sources: paths.map { .handWritten($0, needsScheme: false) })
  }
}
