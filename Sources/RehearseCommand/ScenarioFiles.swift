internal import ArgumentParser
internal import AttacheArguments
internal import AttacheTesting
internal import Foundation

/// The scenario files that a user names.
enum ScenarioFiles {
  /// The files themselves, and those in the folders, sorted.
  ///
  /// - Throws: a usage error when there is no such path, or no scenario in a folder.
  static func find(_ paths: [String]) throws -> [String] {
    var files: [String] = []
    for path in paths {
      let found = try find(path)
      guard !found.isEmpty else {
        throw ValidationError("\(path): no scenario is in this folder; scenarios are files whose names end with .yaml or .yml")
      }
      files += found.filter { !files.contains($0) }
    }
    return files
  }

  /// Reads them all before anything runs.
  ///
  /// - Throws: status 65 when one is wrong, after each mistake is said.
  static func read(_ files: [String]) throws -> [Scenario] {
    var (scenarios, mistakes): ([Scenario], [ScenarioError]) = ([], [])
    for file in files {
      do throws(ScenarioError) {
        scenarios.append(try Scenario(contentsOfFile: file))
      } catch {
        mistakes.append(error)
      }
    }
    guard mistakes.isEmpty else {
      for mistake in mistakes { Terminal.error.write("\(mistake)\n") }
      throw ExitCode(ExitStatus.data)
    }
    return scenarios
  }

  private static func find(_ path: String) throws -> [String] {
    var isFolder: ObjCBool = false
    guard unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      throw ValidationError("\(path): there is no such file or folder")
    }
    guard isFolder.boolValue else { return [path] }
    let names = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
    let prefix = path.hasSuffix("/") ? path : path + "/"
    return names.filter { name in Scenario.fileEndings.contains { name.hasSuffix(".\($0)") } }.sorted().map { prefix + $0 }
  }
}
