internal import FoundationEssentials

/// Where a scenario's files are: beside it, else one folder up.
struct ScenarioFolder {
  private let folders: [String]

  init(of file: String) {
    let folder = file.lastIndex(of: "/").map { String(file[..<$0]) } ?? "."
    folders = [folder, folder + "/.."]
  }

  /// The name of a scenario in a file.
  static func name(of file: String) -> String {
    let last = file.split(separator: "/").last.map(String.init) ?? file
    let ending = Scenario.fileEndings.first { last.hasSuffix("." + $0) }
    return ending.map { String(last.dropLast($0.count + 1)) } ?? last
  }

  /// The bytes of a file; nil when it is in neither folder.
  func read(_ name: String) -> [UInt8]? {
    let paths = name.hasPrefix("/") ? [name] : folders.map { "\($0)/\(name)" }
    for path in paths {
      if let data = try? Data(contentsOf: URL(filePath: path)) { return [UInt8](data) }
    }
    return nil
  }
}
