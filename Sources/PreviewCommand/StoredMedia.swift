import Attache
import Foundation

/// The files of a store that the lines of a run name.
struct StoredMedia {
  let folder: String

  /// A file that a line names.
  struct File {
    var path: String
    var mime: String
    var size: Int
  }

  /// The maximum number of names in a line. A line of several notifications has ten for each.
  static let maximumNames = 200

  /// Returns the names of stored files in a line, each once, up to ``maximumNames``: `73/7333….jpg`, as they end the address of
  /// a file wherever it is served.
  static func names(in line: [UInt8]) -> [String] {
    var names: [String] = []
    // A name has 2 digits, a slash, 64 digits, a dot, and an extension.
    var start = line.startIndex
    while names.count < maximumNames, let slash = line[start...].firstIndex(of: UInt8(ascii: "/")) {
      start = slash + 1
      guard slash >= 2, line.count > slash + 66, line[slash + 65] == UInt8(ascii: ".") else { continue }
      let ending = line[(slash + 66)...].prefix {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
      }
      let folder = String(decoding: line[(slash - 2)..<slash], as: UTF8.self)
      let name = String(decoding: line[(slash + 1)..<ending.endIndex], as: UTF8.self)
      guard StoreFileName.mime(folder: folder, file: name) != nil, !names.contains("\(folder)/\(name)") else { continue }
      names.append("\(folder)/\(name)")
    }
    return names
  }

  /// Returns a file of the store; nil if it is not there.
  func file(_ name: String) -> File? {
    let parts = name.split(separator: "/").map(String.init)
    guard parts.count == 2, let mime = StoreFileName.mime(folder: parts[0], file: parts[1]) else { return nil }
    var status = stat()
    let path = "\(folder)/\(name)"
    guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return File(path: path, mime: mime, size: Int(status.st_size))
  }
}
