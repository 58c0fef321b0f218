@_exported import FirebaseMessaging

/// A stand-in for Firebase's app object, which has nothing to configure.
open class FirebaseApp: NSObject {
  private static let shared = FirebaseApp()

  open class func configure() {}

  open class func app() -> FirebaseApp? {
    shared
  }
}
