import Foundation

/// A folder for the files of a run, which only this user may read.
struct WorkFolder {
  let path: String

  init() throws {
    let parent = FileManager.default.temporaryDirectory.path
    var name = Array("\(parent)/attache-preview-XXXXXX".utf8CString)
    guard let made = unsafe mkdtemp(&name) else { throw PreviewFailure.file(parent, errno) }
    path = unsafe String(cString: made)
  }

  func file(_ name: String) -> String { path + "/" + name }

  func remove() {
    try? FileManager.default.removeItem(atPath: path)
  }
}
