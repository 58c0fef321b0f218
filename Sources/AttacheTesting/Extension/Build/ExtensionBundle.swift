internal import FoundationEssentials
internal import Glibc

/// The folder of an extension's program: `Bundle.main` finds its `Info.plist`, its tables of strings
/// and its pictures beside the program.
struct ExtensionBundle {
  /// The sources, whose folders may have an `Info.plist` and tables of strings.
  let sources: [String]
  /// A folder whose contents are copied.
  let folder: String?

  /// - Throws: ``ExtensionBuildError/output(_:)`` if there is something at the path that is not an
  ///   extension's bundle.
  static func checkReplaceable(_ path: String) throws(ExtensionBuildError) {
    guard FileManager.default.fileExists(atPath: path) else { return }
    guard FileManager.default.isExecutableFile(atPath: "\(path)/\(ExtensionBuilder.programName)") else {
      throw .output("\(path) exists, and is not an extension that attache has built. Remove it, or choose another name with -o.")
    }
  }

  /// Writes the bundle.
  ///
  /// - Returns: the path of the program.
  func write(program: String, to output: String) throws(ExtensionBuildError) -> String {
    let files = FileManager.default
    let partial = "\(output).\(getpid())"
    do {
      try files.createDirectory(atPath: partial, withIntermediateDirectories: true)
      defer { try? files.removeItem(atPath: partial) }
      for folder in Set(sources.map(ExtensionSources.folder)) {
        for name in try files.contentsOfDirectory(atPath: folder) where name == "Info.plist" || name.hasSuffix(".lproj") {
          try? files.copyItem(atPath: "\(folder)/\(name)", toPath: "\(partial)/\(name)")
        }
      }
      if let folder {
        for name in try files.contentsOfDirectory(atPath: folder) {
          try? files.removeItem(atPath: "\(partial)/\(name)")
          try files.copyItem(atPath: "\(folder)/\(name)", toPath: "\(partial)/\(name)")
        }
      }
      try files.copyItem(atPath: program, toPath: "\(partial)/\(ExtensionBuilder.programName)")
      if files.fileExists(atPath: output) { try files.removeItem(atPath: output) }
      try files.moveItem(atPath: partial, toPath: output)
    } catch {
      throw .output("\(output): \(error)")
    }
    return "\(output)/\(ExtensionBuilder.programName)"
  }

  /// Returns the class that an `Info.plist` beside the sources names; nil if there is none.
  static func principalClass(beside sources: [String]) -> String? {
    for folder in Set(sources.map(ExtensionSources.folder)) {
      let text = String(decoding: StageFolder.bytes(at: "\(folder)/Info.plist") ?? [], as: UTF8.self)
      guard let key = text.firstRange(of: "<key>NSExtensionPrincipalClass</key>") else { continue }
      let value = MissingModule.names(in: String(text[key.upperBound...]), between: "<string>", and: "</string>").first
      // The part before the dot is the module, mostly $(PRODUCT_MODULE_NAME).
      if let name = value?.split(separator: ".").last { return String(name) }
    }
    return nil
  }
}
