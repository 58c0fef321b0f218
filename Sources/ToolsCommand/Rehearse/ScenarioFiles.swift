internal import ArgumentParser
internal import AttacheTesting
internal import Foundation
internal import Glibc

/// The scenario files that a user names, or that are in folders that a user names.
struct ScenarioFiles {
  /// A file that is not a valid scenario.
  struct Mistake {
    var name: String
    var error: ScenarioError
  }

  private(set) var scenarios: [Scenario] = []
  /// The invalid files, in order.
  private(set) var mistakes: [Mistake] = []
  /// The scenarios of folders that are left out because of their size.
  private(set) var large: [Scenario] = []

  /// Scenarios with this many payloads are played against a command only on request.
  private static let manyPayloads = 10_000

  /// Reads the files, and the files in the folders sorted by name.
  ///
  /// - Parameters:
  ///   - paths: files and folders.
  ///   - leavesOutLarge: whether to leave out scenarios of 10,000 payloads or more when their
  ///     folder is named, not the file itself.
  ///   - selects: decides by the name whether a scenario is wanted.
  /// - Throws: a usage error when a path does not exist or a folder has no scenario.
  init(_ paths: [String], leavesOutLarge: Bool, where selects: (String) -> Bool) throws {
    var seen: Set<String> = []
    for path in paths {
      let (files, isFolder) = try Self.find(path)
      for file in files where seen.insert(file).inserted && selects(Scenario.name(ofFile: file)) {
        do throws(ScenarioError) {
          if isFolder { try Self.checkPlace(of: file, in: path) }
          let scenario = try Scenario(contentsOfFile: file)
          if leavesOutLarge, isFolder, scenario.payloads.count >= Self.manyPayloads {
            large.append(scenario)
          } else {
            scenarios.append(scenario)
          }
        } catch {
          mistakes.append(Mistake(name: Scenario.name(ofFile: file), error: error))
        }
      }
    }
  }

  private static func find(_ path: String) throws -> (files: [String], isFolder: Bool) {
    var isFolder: ObjCBool = false
    guard unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      throw ValidationError("\(path): there is no such file or folder")
    }
    guard isFolder.boolValue else { return ([path], false) }
    let names = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
    let prefix = path.hasSuffix("/") ? path : path + "/"
    let files = names.filter { name in Scenario.fileEndings.contains { name.hasSuffix(".\($0)") } }.sorted().map { prefix + $0 }
    guard !files.isEmpty else {
      throw ValidationError("\(path): there is no scenario in this folder; scenarios are files whose names end with .yaml or .yml")
    }
    return (files, true)
  }

  /// Checks that a file in a folder is a regular file inside it. A folder may be untrusted: a link
  /// in it must not lead out of it, and opening a pipe would wait for its writer.
  private static func checkPlace(of file: String, in folder: String) throws(ScenarioError) {
    let (place, root) = (URL(filePath: file).resolvingSymlinksInPath().path, URL(filePath: folder).resolvingSymlinksInPath().path)
    guard place.utf8.starts(with: (root.hasSuffix("/") ? root : root + "/").utf8) else {
      throw ScenarioError(file: file, message: "this link leads out of the folder; name the file itself to play it")
    }
    var status = stat()
    guard unsafe stat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw ScenarioError(file: file, message: "this is not a regular file; remove it from the folder")
    }
  }
}
