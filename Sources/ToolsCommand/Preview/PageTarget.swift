import ArgumentParser
import Attache
import Foundation

/// Where a page is written: a file, or a folder with the page and its media.
struct PageTarget {
  private let path: String

  /// A page that is being written.
  struct Page {
    var file: String
    /// The folder of its media; nil if the page contains them.
    var media: String?
  }

  init(_ path: String) {
    self.path = path
  }

  /// Makes the folder, if it is one.
  func begin() throws -> Page {
    guard !path.hasSuffix(".html") && !path.hasSuffix(".htm") else { return Page(file: path) }
    let media = path + "/media"
    do {
      try FileManager.default.createDirectory(atPath: media, withIntermediateDirectories: true)
    } catch {
      throw PreviewFailure.exit(
        "\(PrintableText.of(path)) cannot be a folder (\(error.localizedDescription)); name a page that ends in .html",
        ExitStatus.cannotCreate)
    }
    return Page(file: path + "/index.html", media: media)
  }

  /// Copies a file into the folder of media.
  ///
  /// - Returns: its address from the page.
  func copy(_ file: StoredMedia.File, as name: String, to folder: String) throws -> String {
    let name = name.replacing("/", with: "-")
    let copy = folder + "/" + name
    try? FileManager.default.removeItem(atPath: copy)
    do {
      try FileManager.default.copyItem(atPath: file.path, toPath: copy)
    } catch {
      throw PreviewFailure.exit("\(PrintableText.of(copy)): \(error.localizedDescription)", ExitStatus.cannotCreate)
    }
    return "media/" + name
  }

  /// Writes the page in place of an earlier one.
  func write(_ text: String, to page: Page) throws {
    do {
      try Data(text.utf8).write(to: URL(fileURLWithPath: page.file), options: .atomic)
    } catch {
      throw PreviewFailure.exit("\(PrintableText.of(page.file)) cannot be written (\(error.localizedDescription))", ExitStatus.cannotCreate)
    }
  }
}
