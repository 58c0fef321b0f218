import AttacheTesting
import Foundation

/// The extensions of Fixtures/extensions, each built once. The compiled library is kept beside the
/// build, so that further runs begin at once.
enum BuiltExtensions {
  static let fixtures: String = {
    let folder = (#filePath as NSString).deletingLastPathComponent
    return ((folder as NSString).appendingPathComponent("../../../Fixtures/extensions") as NSString).standardizingPath
  }()

  static let cache: String = {
    let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
    return (program as NSString).deletingLastPathComponent + "/extension-caches/attache-extension"
  }()

  private static let builder = Result { try ExtensionBuilder(cache: cache, announce: {}) }
  private static let output: String = {
    let folder = cache + "/built"
    try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    return folder
  }()

  /// Builds a fixture.
  ///
  /// - Parameter name: a file or a folder of Fixtures/extensions.
  /// - Returns: the path of the program.
  static func program(_ name: String, _ options: ExtensionBuilder.Options = .init()) throws -> String {
    let ending = name.split(separator: "/").joined(separator: "-").replacingOccurrences(of: ".swift", with: "")
    return try builder.get().build([fixtures + "/" + name], to: output + "/" + ending, options)
  }

  /// Builds sources that a test writes.
  static func build(_ files: [String: String], _ options: ExtensionBuilder.Options = .init()) throws -> String {
    let folder = NSTemporaryDirectory() + "attache-sources-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for (name, text) in files { try text.write(toFile: folder + "/" + name, atomically: true, encoding: .utf8) }
    let program = try builder.get().build([folder], to: folder + "/built", options)
    return program
  }
}
