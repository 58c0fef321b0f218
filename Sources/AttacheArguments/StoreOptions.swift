package import ArgumentParser
package import Attache
internal import Glibc

/// Which folder of attachments, and how large and old it may get.
package struct StoreOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The folder of attachments. (default: $XDG_CACHE_HOME/attache, else ~/.cache/attache)", valueName: "dir"))
  package var store: String?

  @Option(help: ArgumentHelp("The least recently used attachments go when the store grows larger, as 500MB or 10GB.", valueName: "size"))
  package var storeMax = ByteCountArgument(10_000_000_000, as: "10GB")

  @Option(help: ArgumentHelp("Attachments that were not used for so long go, as 12h or 30d.", valueName: "time"))
  package var storeAge = DurationArgument(.seconds(30 * 86_400), as: "30d")

  package init() {}

  /// Opens the store, which is made if need be.
  package func open() throws(StoreError) -> AttachmentStore {
    try AttachmentStore(
      directory: folder, maximumBytes: storeMax.bytes, maximumAge: storeAge.duration)
  }

  /// The store's folder.
  package var folder: String { store ?? Self.defaultFolder }

  private static var defaultFolder: String {
    if let cache = variable("XDG_CACHE_HOME"), cache.hasPrefix("/") { return cache + "/attache" }
    return (variable("HOME") ?? "/var/cache") + (variable("HOME") == nil ? "/attache" : "/.cache/attache")
  }

  private static func variable(_ name: String) -> String? {
    guard let value = unsafe getenv(name), unsafe value.pointee != 0 else { return nil }
    return unsafe String(cString: value)
  }
}
