import Foundation

/// An object that shows a file, and learns of others who use it. Here, no other process uses one.
public protocol NSFilePresenter: NSObjectProtocol {
  var presentedItemURL: URL? { get }
  var presentedItemOperationQueue: OperationQueue { get }
}

/// Lets many read a file, or one write it, within this process.
open class NSFileCoordinator: NSObject, @unchecked Sendable {
  public struct ReadingOptions: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) {
      self.rawValue = rawValue
    }

    public static let withoutChanges = ReadingOptions(rawValue: 1)
    public static let resolvesSymbolicLink = ReadingOptions(rawValue: 2)
    public static let immediatelyAvailableMetadataOnly = ReadingOptions(rawValue: 4)
    public static let forUploading = ReadingOptions(rawValue: 8)
  }

  public struct WritingOptions: OptionSet, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) {
      self.rawValue = rawValue
    }

    public static let forDeleting = WritingOptions(rawValue: 1)
    public static let forMoving = WritingOptions(rawValue: 2)
    public static let forMerging = WritingOptions(rawValue: 4)
    public static let forReplacing = WritingOptions(rawValue: 8)
    public static let contentIndependentMetadataOnly = WritingOptions(rawValue: 16)
  }

  public init(filePresenter filePresenterOrNil: (any NSFilePresenter)? = nil) {
    super.init()
  }

  /// Calls `reader` while nobody writes the file.
  open func coordinate(
    readingItemAt url: URL, options: ReadingOptions = [], error outError: UnsafeMutablePointer<NSError?>?, byAccessor reader: (URL) -> Void
  ) {
    FileUse.begin(url, writes: false)
    defer { FileUse.end(url) }
    reader(url)
  }

  /// Calls `writer` while nobody else reads or writes the file.
  open func coordinate(
    writingItemAt url: URL, options: WritingOptions = [], error outError: UnsafeMutablePointer<NSError?>?, byAccessor writer: (URL) -> Void
  ) {
    FileUse.begin(url, writes: true)
    defer { FileUse.end(url) }
    writer(url)
  }
}

/// Who uses which file.
private enum FileUse {
  /// How many read a file; -1 if somebody writes it.
  nonisolated(unsafe) private static var uses: [String: Int] = [:]
  /// Protects `uses`.
  private static let condition = NSCondition()

  /// Waits until the file may be used.
  static func begin(_ url: URL, writes: Bool) {
    let path = url.standardizedFileURL.path
    condition.lock()
    while writes ? uses[path] != nil : uses[path] == -1 { condition.wait() }
    uses[path] = writes ? -1 : (uses[path] ?? 0) + 1
    condition.unlock()
  }

  static func end(_ url: URL) {
    let path = url.standardizedFileURL.path
    condition.lock()
    let left = (uses[path] ?? 0) - 1
    uses[path] = left > 0 ? left : nil
    condition.broadcast()
    condition.unlock()
  }
}
