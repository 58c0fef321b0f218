import Foundation

/// A temporary folder, removed with this object.
final class TemporaryFolder: Sendable {
  let path: String

  init() throws {
    path = "\(NSTemporaryDirectory().trimmingSuffix("/"))/attache-command-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  subscript(name: String) -> String { "\(path)/\(name)" }
}

extension String {
  fileprivate func trimmingSuffix(_ suffix: String) -> String {
    hasSuffix(suffix) ? String(dropLast(suffix.count)) : self
  }
}
