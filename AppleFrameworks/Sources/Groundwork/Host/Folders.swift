import Foundation
import OriginalFoundation

/// The folders of the simulated phone. The host gives this process a home of its own.
package enum PhoneFolders {
  /// The home folder. Its subfolders are those of an iOS app.
  package static let home = URL(fileURLWithPath: NSHomeDirectory(), isDirectory: true)

  /// The folder with one folder per app group.
  static let groups: URL =
    ProcessInfo.processInfo.environment["ATTACHE_GROUPS"].map { URL(fileURLWithPath: $0, isDirectory: true) }
    ?? home.appendingPathComponent("Groups", isDirectory: true)

  static func path(of folder: FileManager.SearchPathDirectory) -> String? {
    switch folder {
    case .documentDirectory: "Documents"
    case .cachesDirectory: "Library/Caches"
    case .libraryDirectory: "Library"
    case .applicationSupportDirectory: "Library/Application Support"
    default: nil
    }
  }
}

extension FileManager {
  /// Returns a folder of the home, as on iOS. Foundation for Linux has no library folder.
  @_disfavoredOverload
  public func urls(for directory: SearchPathDirectory, in domainMask: SearchPathDomainMask) -> [URL] {
    guard let path = PhoneFolders.path(of: directory) else { return originalFolders(directory, domainMask) }
    return [PhoneFolders.home.appendingPathComponent(path, isDirectory: true)]
  }

  /// Returns the shared folder of an app group, which is created if it does not exist.
  ///
  /// - Returns: nil if the identifier cannot be that of a group.
  public func containerURL(forSecurityApplicationGroupIdentifier groupIdentifier: String) -> URL? {
    guard !groupIdentifier.isEmpty, !groupIdentifier.contains("/"), groupIdentifier != ".", groupIdentifier != ".." else { return nil }
    let folder = PhoneFolders.groups.appendingPathComponent(groupIdentifier, isDirectory: true)
    try? createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }
}

/// Returns folders of the home, as on iOS.
@_disfavoredOverload
public func NSSearchPathForDirectoriesInDomains(
  _ directory: FileManager.SearchPathDirectory, _ domainMask: FileManager.SearchPathDomainMask, _ expandTilde: Bool
) -> [String] {
  FileManager.default.urls(for: directory, in: domainMask).map(\.path)
}

extension URL {
  /// The folder for documents.
  @_disfavoredOverload
  public static var documentsDirectory: URL { PhoneFolders.home.appendingPathComponent("Documents", isDirectory: true) }

  /// The folder for files that can be made again.
  @_disfavoredOverload
  public static var cachesDirectory: URL { PhoneFolders.home.appendingPathComponent("Library/Caches", isDirectory: true) }

  /// The folder for files that the user does not see.
  @_disfavoredOverload
  public static var libraryDirectory: URL { PhoneFolders.home.appendingPathComponent("Library", isDirectory: true) }

  /// The folder for files that an app makes for itself.
  @_disfavoredOverload
  public static var applicationSupportDirectory: URL {
    PhoneFolders.home.appendingPathComponent("Library/Application Support", isDirectory: true)
  }
}
