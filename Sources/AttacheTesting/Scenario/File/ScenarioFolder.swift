internal import Attache
internal import FoundationEssentials
internal import Glibc

/// The files that a scenario may name: those in its own folder, and those in the folder `media`
/// beside that folder.
///
/// A scenario may come from a stranger. A file counts only when its real path, with every symbolic
/// link resolved, lies in one of the two folders.
final class ScenarioFolder {
  /// Why a file is not read.
  struct Refusal: Error, CustomStringConvertible {
    let description: String
  }

  /// What all files of a scenario may hold together, in bytes: four times the largest stand-in.
  private static let maximumSize = 4 * StandIn.maximumSize

  private let folder: String
  /// Real paths, each with a slash at its end.
  private let roots: [String]
  private var files: [String: [UInt8]] = [:]
  private var size = 0

  init(of file: String) {
    folder = file.lastIndex(of: "/").map { String(file[...$0]) } ?? "./"
    guard let real = Self.realPath(folder) else {
      roots = []
      return
    }
    // The folder `media` itself is not resolved: a link in its place leads elsewhere.
    let parent = real.lastIndex(of: "/").map { real[..<$0] } ?? ""
    roots = [real == "/" ? "/" : real + "/", parent + "/media/"]
  }

  /// The name of a scenario in a file.
  static func name(of file: String) -> String {
    let last = file.split(separator: "/").last.map(String.init) ?? file
    let ending = Scenario.fileEndings.first { last.hasSuffix("." + $0) }
    return ending.map { String(last.dropLast($0.count + 1)) } ?? last
  }

  /// The bytes of a file; nil when there is none of that name.
  ///
  /// - Parameter name: relative to the scenario's folder; `media/…` is also looked for beside
  ///   that folder.
  /// - Throws: ``Refusal`` for a file elsewhere, one that is no regular file, or one with which the
  ///   files hold more than 1 GB.
  func read(_ name: String) throws(Refusal) -> [UInt8]? {
    if let bytes = files[name] { return bytes }
    guard let bytes = try find(name) else { return nil }
    try keep(bytes, as: name)
    return bytes
  }

  /// The bytes of a stand-in; nil when the name is not that of a stand-in.
  ///
  /// - Throws: ``Refusal`` as ``StandIn/bytes(named:)``, or when the files hold more than 1 GB with
  ///   it.
  func standIn(_ name: String) throws(Refusal) -> [UInt8]? {
    if let bytes = files[name] { return bytes }
    let made: [UInt8]?
    do throws(StandIn.Mistake) { made = try StandIn.bytes(named: name) } catch { throw Refusal(description: error.description) }
    if let made { try keep(made, as: name) }
    return made
  }

  private func keep(_ bytes: [UInt8], as name: String) throws(Refusal) {
    size += bytes.count
    guard size <= Self.maximumSize else {
      throw Refusal(description: "with \(name) the files of this scenario hold \(size) bytes; \(Self.maximumSize) are allowed")
    }
    files[name] = bytes
  }

  private func find(_ name: String) throws(Refusal) -> [UInt8]? {
    let beside = name.hasPrefix("/") ? name : folder + name
    let places = name.hasPrefix("media/") ? [beside, "\(folder)../\(name)"] : [beside]
    guard let path = places.lazy.compactMap(Self.realPath).first else { return nil }
    guard roots.contains(where: { path.utf8.starts(with: $0.utf8) }) else {
      throw Refusal(
        description:
          "\(name) is outside the scenario's folder; a scenario may name files in its own folder and in the folder media beside it")
    }
    return try Self.contents(path, name)
  }

  private static func contents(_ path: String, _ name: String) throws(Refusal) -> [UInt8] {
    // O_NONBLOCK: opening a named pipe must not wait for its writer. O_NOFOLLOW: the path is
    // resolved already.
    let file = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    defer { if file >= 0 { close(file) } }
    guard file >= 0, let status = try? FileStatus(descriptor: file) else {
      throw Refusal(description: "\(name): \(unsafe String(cString: strerror(errno)))")
    }
    guard status.isRegular else { throw Refusal(description: "\(name) is no regular file") }
    guard status.size <= StandIn.maximumSize else {
      throw Refusal(description: "\(name) has \(status.size) bytes; a file has at most \(StandIn.maximumSize)")
    }
    guard let data = try? Data(contentsOf: URL(filePath: path)) else {
      throw Refusal(description: "\(name) cannot be read; check its mode")
    }
    return [UInt8](data)
  }

  /// A path with every symbolic link resolved; nil when nothing is there.
  private static func realPath(_ path: String) -> String? {
    guard let real = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(real) }
    return unsafe String(cString: real)
  }
}
