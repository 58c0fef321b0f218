package import ArgumentParser
package import Attache
internal import Glibc

/// The flags for the folder of attachments and its limits on size and age.
package struct StoreOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The folder of attachments. (default: $XDG_CACHE_HOME/attache, else ~/.cache/attache)", valueName: "dir"))
  package var store: String?

  @Option(
    help: ArgumentHelp(
      "The size limit of the store, such as 500MB or 10GB. Above it, the least recently used attachments are deleted.", valueName: "size"))
  package var storeMax = ByteCountArgument(10_000_000_000, as: "10GB")

  @Option(help: ArgumentHelp("Delete attachments that were not used for this long, such as 12h or 30d.", valueName: "time"))
  package var storeAge = DurationArgument(.seconds(30 * 86_400), as: "30d")

  package init() {}

  package var configuration: AttachmentStore.Configuration {
    var configuration = AttachmentStore.Configuration(directory: store ?? Self.defaultFolder)
    (configuration.maximumBytes, configuration.maximumAge) = (storeMax.bytes, storeAge.duration)
    return configuration
  }

  private static var defaultFolder: String {
    if let cache = variable("XDG_CACHE_HOME"), cache.hasPrefix("/") { return cache + "/attache" }
    return (variable("HOME") ?? "/var/cache") + (variable("HOME") == nil ? "/attache" : "/.cache/attache")
  }

  private static func variable(_ name: String) -> String? {
    guard let value = unsafe getenv(name), unsafe value.pointee != 0 else { return nil }
    return unsafe String(cString: value)
  }
}
